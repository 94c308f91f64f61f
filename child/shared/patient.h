#ifndef CARREL_PATIENT_H
#define CARREL_PATIENT_H

#include <unistd.h>

/*
 * Of who says that something takes long (child/monitor/patience.h): that ends
 * when this descriptor does, which a program that the launcher becomes has.
 */
#define PATIENT_FD 63
#define PATIENT_MS 1000

/* Before the first word of an answer; where it is not open nothing happens. */
static inline void
patient_end(void)
{
	(void)close(PATIENT_FD);
}

#endif
