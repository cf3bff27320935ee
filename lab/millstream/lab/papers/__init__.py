"""The experiments of the papers that millstream is built from, one module each."""
