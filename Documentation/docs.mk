# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# make docs      the pages as HTML and the manual as one PDF, in build/docs
# make pictures  the pictures of the pages, from their descriptions

.PHONY: docs pictures

docs: lab
	@$(ENTER) Documentation/docs

pictures: lab
	@$(ENTER) Documentation/pictures/draw
