
#include "hostname.h"

int
hostname_normalise(char dst[EGRESS_HOST_MAX + 1], const char *src, size_t len)
{
	size_t i;

	if (len > 0 && src[len - 1] == '.')
		len--;
	if (len > EGRESS_HOST_MAX)
		return -1;
	for (i = 0; i < len; i++)
		dst[i] =
		    (char)(src[i] >= 'A' && src[i] <= 'Z' ? src[i] - 'A' + 'a'
							  : src[i]);
	dst[len] = '\0';
	/* a NUL among them is in no name */
	return egress_name(dst, len) ? 0 : -1;
}
