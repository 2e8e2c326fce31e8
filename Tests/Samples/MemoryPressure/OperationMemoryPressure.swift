import OperationCore
import OperationMemoryPressure

struct ThumbnailQuery: SampleQuery {
  let id: Int
}

struct SessionQuery: SampleQuery {}
