from tap_service.models.read_options import AS_DETECTED, ReadOptions, build_options

__all__ = ["AS_DETECTED", "ReadOptions", "build_options"]
