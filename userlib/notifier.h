/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_NOTIFIER_INTERNAL_H
#define MLX5EP_NOTIFIER_INTERNAL_H

#include <mlx5ep/notifier.h>

/**
 * struct mlx5ep_notifier - a notifier
 * @fd: its file
 * @page: the start of its mapping
 * @words: the words in it, by slot
 * @map_len: bytes mapped
 * @token: an anonymous page that a forked child finds zeroed
 */
struct mlx5ep_notifier {
	int fd;
	const volatile struct mlx5_ep_notifier_page *page;
	const uint64_t *words;
	size_t map_len;
	uint32_t *token;
};

#endif
