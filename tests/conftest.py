"""Settings shared by all tests."""

from hypothesis import settings

# A slow or busy machine is not a failure: no deadlines.
settings.register_profile("millstream", deadline=None, print_blob=True)
settings.load_profile("millstream")
