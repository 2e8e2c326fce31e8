import OperationCore

struct Player: Sendable {}

extension Server {
  func player(_ id: Int) async throws -> Player { sample() }
}
