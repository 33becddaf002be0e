# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What the module declares in kernel/, and how its sources are read: for the checks of
this folder that compare something with it."""
import glob
import re

MODULE = "kernel/**/*.c"


def read(pattern):
    """What is in the files, without comments."""
    text = ""
    for path in sorted(glob.glob(pattern, recursive=True)):
        with open(path, encoding="utf-8") as file:
            text += file.read()
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def expanded(text):
    """The text with its macros replaced, those without arguments first."""
    macros = re.findall(r"^#define (\w+)(\(name\))?[ \t]*((?:[^\n]*\\\n)*[^\n]*)$",
                        text, re.M)
    for name, argument, body in sorted(macros, key=lambda macro: bool(macro[1])):
        body = body.replace("\\\n", " ").strip()
        if argument:
            stem = body.split("##")[0]
            text = re.sub(rf"\b{name}\((\w+)\)", lambda m, s=stem: s + m[1], text)
        else:
            text = re.sub(rf"(?<!#define )\b{name}\b", lambda _, b=body: b, text)
    return text


def declared():
    """The attributes of each method, and whether a call may leave each of them out."""
    methods = {}
    for path in glob.glob(MODULE, recursive=True):
        for method, body in re.findall(
                r"^DECLARE_UVERBS_NAMED_METHOD\w*\(\s*(\w+),(.*?)\);$",
                expanded(read(path)), re.M | re.S):
            methods[method] = {attr: "UA_OPTIONAL" in rest for attr, rest in
                               re.findall(r"\b(MLX5_EP_ATTR_\w+)(.*?)"
                                          r"(?=\bUVERBS_ATTR_\w+\(\s*MLX5_EP_ATTR_|\Z)",
                                          body, re.S)}
    return methods
