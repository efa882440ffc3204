/* One folder is missing. */
#ifndef RAD_LAB_FOLDER_H /* expect: guard */
#define RAD_LAB_FOLDER_H

#endif
