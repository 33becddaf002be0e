# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What the headers of the kernel interface, uapi/rdma/*.h, define: for the checks of
this folder that compare something with them."""
import glob
import re
import sys

HEADERS = "uapi/rdma/*.h"
SIZES = {"u8": 1, "u16": 2, "u32": 4, "s32": 4, "u64": 8}


class Uapi:
    """The names that the headers define, and the sizes of their structures."""

    def __init__(self):
        text = ""
        for path in sorted(glob.glob(HEADERS)):
            with open(path, encoding="utf-8") as file:
                text += file.read()
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        self.numbers = {name: int(value, 0) for name, value in re.findall(
            r"^#define (MLX5_EP_\w+)[ \t]+(\d+|0x[0-9a-f]+)U?$", text, re.M)}
        self.ioctls = set(re.findall(
            r"^#define (MLX5_EP_IOC_\w+)(?: \\$|[ \t]+_IO[RW]*\()", text, re.M))
        self.enums, self.structs = {}, {}
        for name, body in re.findall(r"^enum (\w+) \{(.*?)^\};", text,
                                     re.M | re.S):
            self.enums[name] = re.findall(r"\b(MLX5_EP_\w+)\b\s*(?:[=,]|\Z)",
                                          body)
        for name, body in re.findall(r"^struct (\w+) \{(.*?)^\};", text,
                                     re.M | re.S):
            self.structs[name] = [self.field(line) for line in
                                  body.split(";") if line.strip()]

    def field(self, line):
        """(name, bytes) of a field."""
        match = re.fullmatch(r"\s*(?:__(?:aligned_)?(\w+)|struct (\w+))\s+"
                             r"(\w+)(?:\[(\w+)\])?\s*", line)
        if not match:
            sys.exit(f"{HEADERS}: cannot read the field {line.strip()}")
        size = SIZES[match[1]] if match[1] else \
            sum(bytes_ for _, bytes_ in self.structs[match[2]])
        return match[3], size * self.number(match[4] or "1")

    def number(self, text):
        """A number, or a constant of the headers."""
        return self.numbers.get(text) or int(text, 0)

    def ids(self, kind):
        """The ids of objects, methods or attrs."""
        return {member for name, members in self.enums.items()
                if name.endswith(f"_{kind}") for member in members}
