"""A small document in each format, for the HTTP interface's description and for the tests. Binary ones are in base64."""

from __future__ import annotations

GRAPH = """{
  "format": "memplan-graph/2",
  "functions": [
    {"name": "main", "inputs": ["a"], "outputs": ["b"],
     "tensors": [{"id": "a", "shape": [64], "kind": "input"}, {"id": "b", "shape": [32]}],
     "operators": [{"kind": "compute", "name": "conv", "inputs": ["a"], "outputs": ["b"]}]}
  ]
}
"""
CASCADE = """{
  "format": "memplan-cascade/1",
  "tensors": [{"id": "a", "shape": [4, 8, 2]}, {"id": "b", "shape": [4, 8, 1]}],
  "operators": [{"kind": "convolution", "name": "conv", "inputs": ["a"], "output": "b", "kernel": [3, 3], "padding": "same"}]
}
"""
TRACE = """{"format": "memplan-trace/1"}
{"event": "alloc", "id": "a", "size": 64}
{"event": "alloc", "id": "b", "size": 32}
{"event": "use", "ids": ["a", "b"], "name": "conv"}
{"event": "free", "id": "a"}
"""
COLUMNS = (
    "UEsDBC0AAAAIAAAAIQCnL+Ds//////////8GABQAaWQubnB5AQAQAIgAAAAAAAAASwAAAAAAAACb7BfqGxDJyFDGUK2eklqcXKRupaBuE2qorqOgnpZfVFKUmBefX5SSChJ3S8wpTgWKF2ckFqQC+R"
    "pGOpo6CrUKFACuRAYGhiQgBgBQSwMELQAAAAgAAAAhAEz+WdL//////////wgAFABzaXplLm5weQEAEACQAAAAAAAAAEoAAAAAAAAAm+wX6hsQychQxlCtnpJanFykbqWgbpNpoa6joJ6WX1RSlJgX"
    "n1+UkgoSd0vMKU4FihdnJBakAvkaRjqaOgq1ChQALgcGCFCA0gBQSwMELQAAAAgAAAAhAH5q+8n//////////wkAFABzdGFydC5ucHkBABAAkAAAAAAAAABJAAAAAAAAAJvsF+obEMnIUMZQrZ6SWp"
    "xcpG6loG6TaaGuo6Cell9UUpSYF59flJIKEndLzClOBYoXZyQWpAL5GkY6mjoKtQoUAC4GKGCE0gBQSwMELQAAAAgAAAAhAGBIfgz//////////wcAFABlbmQubnB5AQAQAJAAAAAAAAAASgAAAAAA"
    "AACb7BfqGxDJyFDGUK2eklqcXKRupaBuk2mhrqOgnpZfVFKUmBefX5SSChJ3S8wpTgWKF2ckFqQC+RpGOpo6CrUKFAAuJgYIYIbSAFBLAQItAy0AAAAIAAAAIQCnL+DsSwAAAIgAAAAGAAAAAAAAAA"
    "AAAACAAQAAAABpZC5ucHlQSwECLQMtAAAACAAAACEATP5Z0koAAACQAAAACAAAAAAAAAAAAAAAgAGDAAAAc2l6ZS5ucHlQSwECLQMtAAAACAAAACEAfmr7yUkAAACQAAAACQAAAAAAAAAAAAAAgAEH"
    "AQAAc3RhcnQubnB5UEsBAi0DLQAAAAgAAAAhAGBIfgxKAAAAkAAAAAcAAAAAAAAAAAAAAIABiwEAAGVuZC5ucHlQSwUGAAAAAAQABADWAAAADgIAAAAA"
)
DSA = """{
  "schema_version": 1, "profile": "pypto_hard_v1", "instance": "two", "metadata": {},
  "problem": {
    "pools": [{"id": 1, "name": "Vec", "capacity": 128, "reserved_ranges": []}],
    "buffers": [
      {"id": 1, "name": "a", "size": 64, "alignment": 1, "live_intervals": [{"lower": 0, "upper": 2}], "allowed_pools": [1]},
      {"id": 2, "name": "b", "size": 32, "alignment": 1, "live_intervals": [{"lower": 1, "upper": 3}], "allowed_pools": [1]}
    ],
    "constraints": {"colocations": [], "separations": [], "temporal_exclusions": [], "pinned_allocations": []},
    "objective": {"aggregation": "lexicographic", "terms": ["total_peak", "max_peak"]}
  }
}
"""
TFLITE = (
    "GAAAAFRGTDMAAA4AFAAEAAgADAAAABAADgAAAAMAAAAMAAAAKAAAACABAAABAAAAEAAAAAwACQAIAAAAAAAEAAwAAAA7AAAAOwAAAAEAAAAYAAAAAAAAAAAADgAYAAQACAAMABAAFAAO"
    "AAAAFAAAAIQAAACIAAAAjAAAAMAAAAACAAAAFAAAAEgAAAAMABEABAAQAAgADAAMAAAAEAAAAAAAAAAYAAAAAwAAAAEAAABAAAAAAAAAAAAAAAABAAAAYQAAAAwAEQAEABAACAAMAAwA"
    "AAAQAAAAAAAAABAAAAADAAAAAQAAACAAAAABAAAAYgAAAAEAAAAAAAAAAQAAAAEAAAABAAAAEAAAAAAACgAQAAQACAAMAAoAAAAAAAAACAAAAAwAAAABAAAAAAAAAAEAAAABAAAAAAAA"
    "AAQAAABtYWluAAAAAAEAAAAMAAAAAAAAAAQABAAEAAAA"
)
ONNX = (
    "CAg6iAEKLBIEYXhlcyIIQ29uc3RhbnQqGgoFdmFsdWUqDggBEAdKCAAAAAAAAAAAoAEECi0KAWEKBGF4ZXMSAWIaA21heCIJUmVkdWNlTWF4Kg8KCGtlZXBkaW1zGACgAQISA3R3b1oT"
    "CgFhEg4KDAgCEggKAggCCgIIIGIPCgFiEgoKCAgCEgQKAgggQgQKABAS"
)
XLA = "CgkIARBAGgMSAWEKCQgCECAaAxIBYiIUCgIQAQoCEAIKBAgBEAEKBAgBEAI="
MICRO_LOG = """0 (id=1): size=64, offset=0, first_used=0 last_used=1
1 (id=2): size=32, offset=64, first_used=1 last_used=2
"""
VELA = """################################################################################
Tensor Allocation for mem_area Sram, of mem_type_set (Scratch), using allocator HillClimb, in Cpu and Npu subgraph:
Start Time -   End Time: Start Addr -   End Addr: Tensor Size: Memory Usage: Purpose     : Format            : Name
         0 -          1:        0x0 -       0x40:          64:           96: FeatureMap  : NHWC              : a
         1 -          2:       0x40 -       0x60:          32:           96: FeatureMap  : NHWC              : b
"""
SNAPSHOT = """{"segments": [], "device_traces": [[
  {"action": "alloc", "addr": 4096, "size": 64}, {"action": "alloc", "addr": 4160, "size": 32}, {"action": "free_completed", "addr": 4096, "size": 64}
]]}
"""
CHROME = """{"traceEvents": [
  {"ph": "X", "name": "a", "pid": 0, "ts": 0, "dur": 2, "args": {"size": 64}},
  {"ph": "X", "name": "b", "pid": 0, "ts": 1, "dur": 2, "args": {"size": 32}}
]}
"""
MEMORY_SPACE = """buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times,use_names,is_scoped
1,a,0.5,64,0,"1","x",0
2,b,0.5,32,1,"1;2","x;y",0
"""
EXECUTORCH = (
    "EAAAAEVUMTIIAAwABAAIAAgAAAAAAAAABAAAAAEAAAAYAAAAAAAAABAAGAAEAAAACAAMABAAFAAQAAAAIAAAACgAAAAAAQAABAEAAAgBAAAAAAAAAAAAAAAAAAAHAAAAZm9yd2FyZAADAAAAFAAAADAAAA"
    "CEAAAACAAJAAgABAAIAAAADAAAAAEAAAAEAAQABAAAAAAAAAAIAAkACAAEAAgAAAAcAAAABQAAAAAAEgANAAwAAAAEAAAAAAAAAAgAEgAAAAwAAAAYAAAAAAAAAAEAAABAAAAACAAMAAQACAAIAAAAAQAA"
    "AAAAAAAAAAAACAAJAAgABAAIAAAAHAAAAAUAAAAAABIADQAMAAAABAAAAAAAAAAIABIAAAAMAAAAGAAAAAAAAAABAAAAIAAAAAgADAAEAAgACAAAAAEAAABAAAAAAQAAAAEAAAABAAAAAgAAAAEAAAAQAA"
    "AAAAAKAAgAAAAAAAQACgAAAAQAAAABAAAADAAAAAgACQAIAAQACAAAABQAAAABAAAAAAAAAAgADAAEAAgACAAAAAAAAAAEAAAAAgAAAAEAAAACAAAA"
)
XLA_TEXT = """\
BufferAssignment:
allocation 0: size 96, preallocated-temp:
 value: <1 a @0> (size=64,offset=0): s8[64]{0}
 value: <2 b @0> (size=32,offset=64): s8[32]{0}

HloLiveRange (max 3):
  BufferLiveRange:
    a{}:1-2
    b{}:2-3
"""
ST_EDGE = """{"json_schema_version": "2.0",
 "memory_pools": [{"id": 0, "name": "heap_overlay_pool", "size_bytes": -1, "alignment": 4, "rights": "ACC_WRITE"}],
 "buffers": [
  {"id": 1, "name": "a", "size_bytes": 64, "offset_start": 0, "mpool_id": 0, "alignment": 4, "is_param": false, "epochs": {"start": 1, "end": 3}},
  {"id": 2, "name": "b", "size_bytes": 32, "offset_start": 64, "mpool_id": 0, "alignment": 4, "is_param": false, "epochs": {"start": 2, "end": 5}}]}
"""
IDEALLOC = (
    "AAAAAAAAAAEAAAAAAAAAAAAAAAAAAAACAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAACAAAAAAAAAAEAAAAAAAAAAwAAAAAAAAAgAAAAAAAAAAAA"
    "AAAAAAAAQAAAAAAAAAAAAAAAAAAAACA="
)
