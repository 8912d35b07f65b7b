"""sqlmap with longer limits: it stops leaving echoes of its own words out of answers when that once took three seconds, and
then takes the echo in an error message for a hole. On a busy machine anything may take three seconds."""

import sys

from sqlmap.sqlmap import main

common = sys.modules["lib.core.common"]
assert common.REFLECTED_REPLACEMENT_TIMEOUT > 0
common.REFLECTED_REPLACEMENT_TIMEOUT = 600
sys.exit(main())
