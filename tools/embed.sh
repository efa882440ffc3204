#!/bin/sh
# embed.sh FILE...: prints C that holds the texts of these examples, for the tour: src/cli/tour.c.
echo 'static const tour_example TOUR_EXAMPLE_FILES[] = {'
for file in "$@"; do
    printf '    {"examples/%s",\n' "${file##*examples/}"
    sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/     "&\\n"/' "$file"
    echo '    },'
done
echo '};'
