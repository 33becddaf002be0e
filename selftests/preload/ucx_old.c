// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ucx_old.so - preloaded behind libmlx5ep-ucx, makes UCX say that it is 1.16
 */
void ucp_get_version(unsigned int *major, unsigned int *minor,
		     unsigned int *release);

void ucp_get_version(unsigned int *major, unsigned int *minor,
		     unsigned int *release)
{
	*major = 1;
	*minor = 16;
	*release = 0;
}
