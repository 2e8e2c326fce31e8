import Operation

protocol Transport: Sendable {
  func get(_ route: String) async throws -> String
}

struct HTTPTransport: Transport {
  func get(_ route: String) async throws -> String { sample() }
}

struct CachingTransport: Transport {
  func get(_ route: String) async throws -> String { sample() }
}

struct CannedTransport: Transport {
  let answer: String

  func get(_ route: String) async throws -> String { answer }
}
