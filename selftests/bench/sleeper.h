/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * For how long does the kernel keep the CPU? A thread of real-time priority sleeps
 * for some microseconds, over and over. It runs late by as long as the kernel could
 * not be preempted, and a spinlock that is held is such a time. In a guest with one
 * CPU whose instructions QEMU counts the clock is that count.
 *
 * The program says in which phase it is, by a number; what the thread measures
 * counts for that phase.
 */
#ifndef SELFTESTS_SLEEPER_H
#define SELFTESTS_SLEEPER_H

/* Starts the thread, in phase 0. Return: 0 or -errno. */
int sleeper_start(void);

/* What is measured from now on counts for that phase. */
void sleeper_phase(unsigned int phase);

/* Waits until the thread sleeps, and has begun to in this phase. */
void sleeper_wait(void);

/* Ends the thread. */
void sleeper_stop(void);

/**
 * sleeper_print() - print "NAME LATE N" for each phase
 * @names: of the phases 0 to @n - 1
 *
 * LATE is the longest time by which the thread ran late, in instructions, and N
 * how often it slept. The thread has been stopped.
 */
void sleeper_print(const char *const *names, unsigned int n);

#endif
