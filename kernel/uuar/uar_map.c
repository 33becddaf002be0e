// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * UAR pages as processes map them.
 *
 * libmlx5 maps every static page of a managed context while it opens the
 * context. mlx5_ib has allocated page 0 only. The other mappings stay empty:
 * they have their place in the address space and no UAR page behind them. The
 * first QP that the policy places on such a page makes mlx5_ib allocate the UAR
 * page and map it there, through its own mmap operation:
 *
 *   - An empty mapping has the flags that a mapped UAR page has, and the offset
 *     of a page that mlx5_ib allocates when it is mapped
 *     (MLX5_IB_MMAP_ALLOC_WC). mlx5_ib gives such a page the context's own
 *     DevX uid, and frees it when the context is closed.
 *   - ib_uverbs follows mapped pages by vm_private_data, which is NULL here. So
 *     ib_uverbs answers a touch with SIGBUS, copies the empty mapping at fork,
 *     and has nothing to do for it at munmap or when the device goes.
 *   - libmlx5 counts its own pages of that kind (thread domains) from 0 up.
 *     Ours are counted from the last one down.
 *
 * Where pages of the system are larger than 4 KiB, a mapping has several UAR
 * pages (uars_together of the device): they are allocated and mapped together,
 * and their numbers and static indices are consecutive.
 *
 * What never happens:
 *
 *   - A page of the device is mapped over something other than an empty mapping
 *     of the same page and the same context. Both are compared under mmap_lock,
 *     which is held for writing until the page is mapped.
 *   - A QP rings a page that its creator cannot reach. If the process has not
 *     the library's mapping of a page (it has unmapped or moved it, or fork has not
 *     copied it), none of that process's QPs is placed there. Page 0, which
 *     mlx5_ib maps, is the exception: QPs that fit nowhere else are placed on it,
 *     as they would be by mlx5_ib.
 */

#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/mlx5/device.h>
#include <rdma/ib_verbs.h>

#include "cmd.h"
#include "compat/compat.h"
#include "device.h"
#include "uuar/context.h"
#include "uuar/context_pages.h"
#include "uuar/uar_alloc.h"
#include "uuar/uar_map.h"

/*
 * mmap offsets of mlx5_ib: bits 15:8 of the page offset are the command, bits
 * 7:0 an index that bits 23:16 extend (providers/mlx5/mlx5.h).
 */
enum mmap_command {
	MMAP_REGULAR_PAGE = 0,
	MMAP_WC_PAGE = 2,
	MMAP_NC_PAGE = 3,
	MMAP_ALLOC_WC = 6,
	/* above: entries of any kind that were allocated after open */
	MMAP_LAST_COMMAND = 8,
};

/*
 * UAR pages that mlx5_ib allocates for MMAP_ALLOC_WC. Their mappings have
 * indices from 0 on.
 */
#define NR_ALLOC_PAGES (MLX5_MAX_DYN_BFREGS / MLX5_NON_FP_BFREGS_PER_UAR)

/* What remap_pfn_range() gives a mapping of a device's memory. */
#define IO_FLAGS (VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP)

/* Index of a static page's mapping among those that MMAP_ALLOC_WC allocates. */
static unsigned long uar_map_index(const struct mlx5_ep_context *ectx,
				   unsigned int page)
{
	return (NR_ALLOC_PAGES - ectx->table->nr_pages + page) /
	       ectx->edev->uars_together;
}

static unsigned long uar_map_pgoff(unsigned long index)
{
	return (index & ~0xfful) << 8 | MMAP_ALLOC_WC << 8 | (index & 0xff);
}

/* How context.c names such a page: as the core names a page with an entry. */
static unsigned long uar_map_tracked_as(unsigned long command,
					unsigned long index)
{
	return command << 16 | index;
}

static unsigned long uar_map_first_pfn(const struct mlx5_ep_device *edev)
{
	return edev->mdev->bar_addr >> PAGE_SHIFT;
}

/* Finds the first UAR page of a mapping. False: it maps no UAR page. */
static bool uar_map_mapped_uar(struct mlx5_ep_device *edev,
			       struct vm_area_struct *vma, u32 *uar)
{
	unsigned long first = uar_map_first_pfn(edev), pfn;

	if (compat_vma_pfn(vma, vma->vm_start, &pfn) || pfn < first ||
	    (pfn - first) * edev->uars_together >=
		    mlx5_ep_cmd_uar_pages(edev->mdev))
		return false;
	*uar = (pfn - first) * edev->uars_together;
	return true;
}

/*
 * Map a page that was allocated after open, if the user may have it. A page that
 * was allocated as a uverbs object is charged already. A page that mmap() itself
 * allocates is charged here.
 *
 * The driver refuses a private mapping only after it has allocated a page for it. On
 * the way back drivers from before June 2026 free another page than that one, so that
 * the page would be held and not charged. Such a mapping does not reach the driver.
 */
static int uar_map_dynamic(struct mlx5_ep_context *ectx,
			   struct ib_ucontext *uctx, struct vm_area_struct *vma,
			   unsigned long pgoff)
{
	struct mlx5_ep_device *edev = ectx->edev;
	bool has_entry = pgoff >> 16 != MMAP_ALLOC_WC;
	u32 uar;
	int ret;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	/* The page is charged already, or @pgoff is not that of a UAR page. */
	if (mlx5_ep_context_pages_tracks(ectx, pgoff) ||
	    (has_entry && mlx5_ep_uar_alloc_is_hooked(edev)))
		return edev->stock.mmap(uctx, vma);
	ret = mlx5_ep_context_pages_charge_one(ectx);
	if (ret)
		return ret;
	ret = edev->stock.mmap(uctx, vma);
	/* The mapping holds the entry. */
	if (!ret && uar_map_mapped_uar(edev, vma, &uar))
		mlx5_ep_context_pages_track(
			ectx, pgoff,
			(has_entry ? xa_load(&uctx->mmap_xa, pgoff) : NULL) ?:
				xa_mk_value(uar));
	else
		mlx5_ep_context_pages_uncharge_one(ectx);
	return ret;
}

/**
 * mlx5_ep_uar_map_dynamic() - the UAR page behind a uUAR that mmap() allocated
 * @ectx: open context; no lock is needed
 * @bfreg: number of the uUAR among these, as libmlx5 counts them
 *
 * Return: the device's number of the page; MLX5_EP_UAR_UNKNOWN when none
 */
u32 mlx5_ep_uar_map_dynamic(struct mlx5_ep_context *ectx, u32 bfreg)
{
	unsigned int together = ectx->edev->uars_together;
	u32 page = bfreg / MLX5_EP_UUARS_PER_PAGE;
	void *entry =
		xa_load(&ectx->dynamic,
			uar_map_tracked_as(MMAP_ALLOC_WC, page / together));

	return xa_is_value(entry) ? xa_to_value(entry) + page % together :
				    MLX5_EP_UAR_UNKNOWN;
}

/* Map a page that was allocated on demand, once more. */
static int uar_map_again(struct mlx5_ep_context *ectx, struct ib_ucontext *uctx,
			 struct vm_area_struct *vma, u32 uar)
{
	return rdma_user_mmap_io(uctx, vma, uar_map_first_pfn(ectx->edev) +
					 uar / ectx->edev->uars_together,
				 PAGE_SIZE,
				 pgprot_writecombine(vma->vm_page_prot), NULL);
}

/*
 * Finds the mapping of the page in the caller's address space, empty or not.
 * NULL: nothing, or something else, is at that address. mmap_lock is held.
 */
static struct vm_area_struct *uar_map_find(struct mlx5_ep_context *ectx,
					   struct ib_ucontext *uctx,
					   unsigned int page)
{
	unsigned long addr = ectx->table->pages[page].addr;
	struct vm_area_struct *vma = find_vma(current->mm, addr);

	if (!vma || vma->vm_start != addr || vma->vm_end != addr + PAGE_SIZE ||
	    !vma->vm_file || vma->vm_file->private_data != uctx->ufile ||
	    vma->vm_pgoff != uar_map_pgoff(uar_map_index(ectx, page)))
		return NULL;
	return vma;
}

/*
 * mlx5_ib maps what it allocates with pgprot_writecombine(). Does that leave an
 * uncached mapping uncached? It does on x86 with 6.12, not with 7.2.
 */
static bool uar_map_stays_uncached(pgprot_t prot)
{
	return pgprot_val(pgprot_writecombine(pgprot_noncached(prot))) !=
	       pgprot_val(pgprot_writecombine(prot));
}

/*
 * Map a static page that is allocated on demand. Until then it is empty. Where it
 * could not be uncached, a library that asks for that is refused: libmlx5 then maps
 * the page as it maps others, and tells its users so.
 */
static int uar_map_on_demand(struct mlx5_ep_context *ectx,
			     struct ib_ucontext *uctx,
			     struct vm_area_struct *vma, unsigned long command,
			     unsigned int page)
{
	u32 uar;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (command == MMAP_NC_PAGE) {
		if (!uar_map_stays_uncached(vma->vm_page_prot))
			return -EOPNOTSUPP;
		vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	}
	vma->vm_pgoff = uar_map_pgoff(uar_map_index(ectx, page));
	if (mlx5_ep_context_pages_uar(ectx, page, &uar))
		return uar_map_again(ectx, uctx, vma, uar);
	vm_flags_mod(vma, IO_FLAGS, 0);
	mlx5_ep_context_pages_note_empty(ectx, page, vma->vm_start);
	return 0;
}

/**
 * mlx5_ep_uar_map() - the mmap operation of a context
 * @ectx: our side of @uctx, open; its lock is not held
 * @uctx: context on whose file mmap() was called
 * @vma: the mapping that ib_uverbs makes, under mmap_lock held for writing
 *
 * Return: as the driver's operation; -EDQUOT: the page would be one too many;
 * -EINVAL: a page that is allocated after open is to be mapped privately;
 * -EOPNOTSUPP: the page cannot be mapped uncached
 */
int mlx5_ep_uar_map(struct mlx5_ep_context *ectx, struct ib_ucontext *uctx,
		    struct vm_area_struct *vma)
{
	struct mlx5_ep_device *edev = ectx->edev;
	unsigned long command = (vma->vm_pgoff >> 8) & 0xff;
	unsigned long index = vma->vm_pgoff & 0xff;
	unsigned long page = index * edev->uars_together;
	bool one_page = vma->vm_end - vma->vm_start == PAGE_SIZE;
	bool is_static = command == MMAP_REGULAR_PAGE ||
			 command == MMAP_WC_PAGE || command == MMAP_NC_PAGE;
	u32 uar;
	int ret;

	if (one_page &&
	    (command == MMAP_ALLOC_WC || command > MMAP_LAST_COMMAND)) {
		index |= (vma->vm_pgoff >> 8) & 0xff00;
		return uar_map_dynamic(ectx, uctx, vma,
				       uar_map_tracked_as(command, index));
	}
	if (!ectx->table || !one_page || !is_static)
		return edev->stock.mmap(uctx, vma);
	if (page >= ectx->static_pages && page < ectx->table->nr_pages)
		return uar_map_on_demand(ectx, uctx, vma, command, page);
	ret = edev->stock.mmap(uctx, vma);
	if (!ret && uar_map_mapped_uar(edev, vma, &uar))
		mlx5_ep_context_pages_note_static(ectx, page, uar);
	return ret;
}

/* Have the page allocated and mapped; mmap_lock is held for writing. */
static int uar_map_fill(struct mlx5_ep_context *ectx, struct ib_ucontext *uctx,
			unsigned int page, u32 *uar)
{
	struct vm_area_struct *vma = uar_map_find(ectx, uctx, page);
	bool known = mlx5_ep_context_pages_uar(ectx, page, uar);
	unsigned long as =
		uar_map_tracked_as(MMAP_ALLOC_WC, uar_map_index(ectx, page));
	unsigned int first;
	u32 other;
	int ret;

	if (!vma)
		return -ENXIO;
	if (known) {
		/* A child has the parent's mapping as fork left it. */
		if (vma->vm_private_data)
			return 0;
		/*
		 * If there was no memory at fork, the page may be mapped without
		 * ib_uverbs following it. Nothing can be mapped over it.
		 */
		if (uar_map_mapped_uar(ectx->edev, vma, &other))
			return -ENXIO;
		return uar_map_again(ectx, uctx, vma, *uar);
	}
	/* The library has allocated a page of its own under this index. */
	if (mlx5_ep_context_pages_tracks(ectx, as))
		return -ENXIO;
	ret = uar_map_dynamic(ectx, uctx, vma, as);
	if (ret)
		return ret;
	if (!uar_map_mapped_uar(ectx->edev, vma, uar))
		return -ENXIO;
	first = rounddown(page, ectx->edev->uars_together);
	mlx5_ep_context_pages_note_static(ectx, first, *uar);
	*uar += page - first;
	return 0;
}

/**
 * mlx5_ep_uar_map_back() - make sure that a UAR page is behind a static page
 * @ectx: our side of @uctx, open, with a table; neither its lock nor its
 *	back_lock is held
 * @uctx: context through whose file the caller has mapped the page
 * @page: static page index on which a QP of the caller was placed
 * @uar: answer: the device's number of the page
 *
 * For a system call of a process on this context: ib_uverbs holds its locks
 * against the removal of the device. Sleeps.
 *
 * Return: 0; -EDQUOT, -ENOMEM and others: the page cannot be allocated now;
 * -ENXIO: the process does not have the library's mapping of this page;
 * -EINTR: the caller is being killed
 */
int mlx5_ep_uar_map_back(struct mlx5_ep_context *ectx, struct ib_ucontext *uctx,
			 unsigned int page, u32 *uar)
{
	unsigned int first = rounddown(page, ectx->edev->uars_together);
	struct mlx5_ep_uuar_page *entry = &ectx->table->pages[first];
	struct mm_struct *mm = current->mm;
	int ret;

	if (mlx5_ep_context_pages_uar(ectx, page, uar) &&
	    (page < ectx->static_pages || READ_ONCE(entry->mm) == mm))
		return 0;
	if (!mm)
		return -ENXIO;
	/* Processes that share the context each fill their own mapping. */
	if (mutex_lock_killable(&ectx->back_lock))
		return -EINTR;
	ret = mmap_write_lock_killable(mm);
	if (!ret) {
		ret = uar_map_fill(ectx, uctx, page, uar);
		mmap_write_unlock(mm);
		if (!ret)
			mlx5_ep_context_pages_note_mm(entry, mm);
	}
	mutex_unlock(&ectx->back_lock);
	return ret;
}
