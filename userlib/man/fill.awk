# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Fills a manual page with what is written elsewhere, so that the two cannot
# differ. A line of the page that is one of these comments is replaced:
#
#	.\" insert functions HEADER	each function of a header, from its kernel-doc
#	.\" insert type HEADER NAME	a structure or an enumeration and its members
#	.\" insert file FILE		a program or its output, without its SPDX line
#
# awk -f userlib/man/fill.awk PAGE >FILLED. FILE is relative to the working folder.

function die(text)
{
	print FILENAME ": " text >"/dev/stderr"
	failed = 1
	exit 1
}

# A line of a comment in roff: names of arguments, constants and functions
function prose(text)
{
	gsub(/\\/, "\\e", text)
	gsub(/\t/, " ", text)
	text = gensubst(text, "@[a-z_]+", "\\fI", 1)
	text = gensubst(text, "%[A-Z0-9_]+", "\\fB", 1)
	text = gensubst(text, "&(struct|enum) [a-z0-9_]+", "\\fI", 1)
	gsub(/-/, "\\-", text)
	if (text ~ /^[.']/)
		text = "\\&" text
	return text
}

# Puts what matches into a font, less @skip characters at its start
function gensubst(text, pattern, font, skip,	out)
{
	out = ""
	while (match(text, pattern)) {
		out = out substr(text, 1, RSTART - 1) font \
			substr(text, RSTART + skip, RLENGTH - skip) "\\fP"
		text = substr(text, RSTART + RLENGTH)
	}
	return out text
}

function sentence(text)
{
	text = toupper(substr(text, 1, 1)) substr(text, 2)
	return prose(text ~ /[.?]$/ ? text : text ".")
}

# Prints a line, broken at blanks so that none is longer than 80 bytes
function emit(text,	i)
{
	while (length(text) > 79) {
		for (i = 79; i > 1 && substr(text, i, 1) != " "; i--)
			;
		if (i == 1)
			break
		print substr(text, 1, i - 1)
		text = substr(text, i + 1)
	}
	print text
}

function start_list()
{
	if (!listed)
		print ".RS"
	listed = 1
}

function end_list()
{
	if (listed)
		print ".RE"
	listed = 0
}

# One line of the body of a comment, without its star
function body(line)
{
	if (line ~ /^@[a-z0-9_A-Z]+:/) {
		start_list()
		print ".TP"
		print ".I " substr(line, 2, index(line, ":") - 2)
		line = substr(line, index(line, ":") + 1)
		sub(/^ +/, "", line)
		emit(sentence_start(line))
		member = 1
	} else if (line == "") {
		if (in_body)
			gap = 1
		member = 0
	} else if (member && line ~ /^\t/) {
		sub(/^\t+/, "", line)
		emit(prose(line))
	} else {
		end_list()
		if (gap)
			print ".IP"
		gap = 0
		sub(/^Return:/, "Returns:", line)
		emit(prose(line))
	}
	in_body = 1
}

function sentence_start(line)
{
	return prose(toupper(substr(line, 1, 1)) substr(line, 2))
}

# Prints the comments of a header: kind is "functions", or the name of a type
function document(header, kind,	line, found, title, i)
{
	found = 0
	while ((getline line <header) > 0) {
		if (line !~ /^\/\*\*/)
			continue
		getline line <header
		sub(/^ \* /, "", line)
		i = index(line, " - ")
		title = substr(line, 1, i - 1)
		if (kind == "functions" ? title !~ /\(\)$/ : title !~ " " kind "$")
			continue
		found++
		print ".TP"
		if (kind == "functions")
			print ".BR " substr(title, 1, length(title) - 2) " ()"
		else
			print ".B " title
		emit(sentence(substr(line, i + 3)))
		in_body = gap = listed = member = 0
		while ((getline line <header) > 0 && line !~ /^ \*\//) {
			sub(/^ \* ?/, "", line)
			body(line)
		}
		end_list()
	}
	close(header)
	if (!found)
		die("nothing on " kind " in " header)
}

function file(name,	line, found)
{
	found = 0
	print ".PP\n.in +4n\n.EX"
	while ((getline line <name) > 0) {
		if (!found++ && line ~ /SPDX-License-Identifier/)
			continue
		gsub(/\\/, "\\e", line)
		gsub(/-/, "\\-", line)
		if (line ~ /^[.']/)
			line = "\\&" line
		print line
	}
	close(name)
	print ".EE\n.in"
	if (!found)
		die("no " name)
}

/^\.\\" insert functions / { document($4, "functions"); next }
/^\.\\" insert type / { document($4, $5); next }
/^\.\\" insert file / { file($4); next }
/^\.\\" insert / { die("cannot insert: " $0) }
{ print }
