import Foundation
import Operation

struct User: Hashable, Sendable, Identifiable {
  let id: Int
}

extension User {
  struct ProfileQuery: QueryRequest {
    let id: User.ID

    func fetch(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<User, any Error>
    ) async throws -> User {
      User(id: self.id)
    }
  }

  // Hashable, so that the path of the key replaces the default path.
  struct FriendsQuery: PaginatedRequest, Hashable {
    let userId: Int
    let initialPageId = 0

    func pageId(
      after page: Page<Int, [User]>,
      using paging: Paging<Int, [User]>,
      in context: OperationContext
    ) -> Int? { nil }

    func fetchPage(
      isolation: isolated (any Actor)?,
      using paging: Paging<Int, [User]>,
      in context: OperationContext,
      with continuation: OperationContinuation<[User], any Error>
    ) async throws -> [User] {
      [User(id: self.userId + 1)]
    }
  }

  struct NamesQuery: QueryRequest {
    func fetch(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<[String], any Error>
    ) async throws -> [String] {
      [context.greeter.greeting(for: "Blob")]
    }
  }
}

struct SignUp: MutationRequest {
  func mutate(
    isolation: isolated (any Actor)?,
    with name: String,
    in context: OperationContext,
    with continuation: OperationContinuation<User, any Error>
  ) async throws -> User {
    User(id: name.count)
  }
}

struct Keywords: QueryRequest {
  let `in`: Int
  let `let`: String?
  let `inout`: Bool
  let `where`: [Int: String]
  let await: Int

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    self.in
  }
}

protocol Greeter: Sendable {
  func greeting(for name: String) -> String
}

struct Politely: Greeter {
  func greeting(for name: String) -> String { "Good day, \(name)" }
}

struct Shortly: Greeter {
  func greeting(for name: String) -> String { name }
}

struct OldCart: QueryRequest {
  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int { 0 }
}
