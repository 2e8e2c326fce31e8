import OperationBatching
import OperationCore

struct Author: Sendable {
  let name: String
}

extension Server {
  func authors(_ ids: [Int]) async throws -> [Int: Author] { sample() }
}

let user: User = sample()
