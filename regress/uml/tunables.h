#ifndef CARREL_UML_TUNABLES_H
#define CARREL_UML_TUNABLES_H

/* No wide registers in the C library; uml.py reads these strings, too. */
#define TUNABLES                                                               \
	"glibc.cpu.hwcaps=-AVX,-AVX2,-AVX512F,-AVX512VL,-AVX512BW,-AVX_Fast_"  \
	"Unaligned_Load,-XSAVEC,-XSAVE"

#endif
