import OperationBatching
import OperationCore

struct Author: Sendable {
  let id: Int
  let name: String
}

struct AuthorPage: Sendable {
  let authors: [Author]
}

let page: AuthorPage = sample()

extension Server {
  func authors(_ ids: [Int]) async throws -> [Int: Author] { sample() }
}

let user: User = sample()
