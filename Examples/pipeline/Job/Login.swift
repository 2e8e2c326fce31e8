import Operation
import OperationScheduling

/// The login at the server: its token, once there is one.
actor Session {
  private let api: FileAPI
  private(set) var token: String?

  init(api: FileAPI) {
    self.api = api
  }

  func logIn() async throws {
    guard self.token == nil else { return }
    self.token = try await self.api.logIn()
  }

  func requireToken() throws -> String {
    guard let token = self.token else { throw NotLoggedIn() }
    return token
  }
}

struct NotLoggedIn: Error {}

/// Logs in, unless a login is there already.
struct LogIn: OperationRequest, Sendable {
  let session: Session

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    try await self.session.logIn()
  }
}

/// Generates the login. Many downloads need it at once, so it is in a category of its own.
struct LoggedIn: OperationCondition {
  let session: Session

  func dependency(in context: OperationContext) -> (any OperationRequest & Sendable)? {
    LogIn(session: self.session).mutuallyExclusive(LogIn.self)
  }

  func evaluate(in context: OperationContext) async -> OperationConditionResult {
    await self.session.token == nil ? .denied(NotLoggedIn()) : .satisfied
  }
}
