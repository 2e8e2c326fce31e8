import Operation
import Tracing

let tracer = NoOpTracer()
