import OperationCore
import OperationTimeout

struct Request: Sendable {
  var headers: [String: String]
}

var request: Request {
  get { sample() }
  set {}
}

let context = OperationContext()

enum UserFailure: Error {
  case slow(Duration)
}

struct UserQuery: QueryRequest, Hashable {
  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<User, UserFailure>
  ) async throws(UserFailure) -> User { sample() }
}
