import OperationCore
import OperationDerivation

struct User: Sendable, Equatable {
  var name = ""
  var teamID = 0
  var points = 0
}

struct Team: Sendable, Equatable {
  var name = ""
}

struct Profile: Sendable {
  var user: User
  var team: Team
}

struct UserQuery: QueryRequest, Hashable {
  let id: Int

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<User, any Error>
  ) async throws -> User { sample() }
}

struct TeamQuery: QueryRequest, Hashable {
  let id: Int

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Team, any Error>
  ) async throws -> Team { sample() }
}
