import Operation

struct Transport: Sendable {
  func get<Value>(_ route: String) async throws -> Value { sample() }
  func post(_ text: String) async throws -> Int { sample() }
}

extension OperationContext {
  var transport: Transport { Transport() }
}

typealias MeasurementState<Unit> = QueryState<Double, any Error>
