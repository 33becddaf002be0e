# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# A Linux tree that is small: it has only what linux-tree changes. For tests on the host,
# which begin with selftests/lib/lib.sh.

# shellcheck disable=SC2034 # for who reads this
linux_tree=packaging/linux-tree/linux-tree
# The lab has no git.
parts=$(lab/fetch git git)
without_git=$PATH
export PATH=$parts/usr/bin:$PATH GIT_EXEC_PATH=$parts/usr/lib/git-core GIT_TEMPLATE_DIR=
export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@localhost
export GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@localhost

# files TREE: what the series changes, and a checkpatch
files()
{
	mkdir -p "$1/drivers/infiniband/hw" "$1/Documentation/infiniband" \
		"$1/tools/testing/selftests" "$1/scripts"
	# shellcheck disable=SC2016 # for make
	echo 'obj-$(CONFIG_MLX5_INFINIBAND) += mlx5/' \
		>"$1/drivers/infiniband/hw/Makefile"
	echo 'source "drivers/infiniband/hw/mthca/Kconfig"' \
		>"$1/drivers/infiniband/Kconfig"
	echo 'MELLANOX MLX5 IB driver' >"$1/MAINTAINERS"
	echo '   ipoib' >"$1/Documentation/infiniband/index.rst"
	echo 'TARGETS += resctrl' >"$1/tools/testing/selftests/Makefile"
	echo 'my @patch = <STDIN>;' >"$1/scripts/checkpatch.pl"
}

# repository FOLDER: everything in it is committed
repository()
{
	git -C "$1" init -q
	git -C "$1" add .
	git -C "$1" commit -q -m first
}
