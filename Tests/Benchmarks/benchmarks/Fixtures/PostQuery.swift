internal import OperationCore

/// A query whose body returns at once.
struct PostQuery: QueryRequest {
  typealias State = QueryState<Int, any Error>

  let id: Int

  var path: OperationPath { ["posts", self.id] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    self.id
  }
}

/// A query of a member of a group, which has ten.
struct MemberQuery: QueryRequest {
  typealias State = QueryState<Int, any Error>

  static let membersPerGroup = 10

  let group: Int
  let member: Int

  var path: OperationPath { Self.path(of: self.group) + [self.member] }

  static func path(of group: Int) -> OperationPath { ["groups", group] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    self.member
  }
}
