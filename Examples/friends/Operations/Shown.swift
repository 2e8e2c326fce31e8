import Operation
import OperationDerivation
import PostService

/// The lines of the screens: queries that read other queries, and run again when one of these changes, also by an
/// optimistic update.
enum Shown {
  /// The number of friend requests that the user has not accepted.
  static var badge: some QueryRequest<String, any Error> {
    QueryOperation<String, any Error>("shown", "badge") { context in
      let you = try await context.value(of: Remote.you)
      return "requests: \(try await context.value(of: Remote.requests).count { !you.friendIds.contains($0.id) })"
    }
    .derived()
  }

  static var you: some QueryRequest<String, any Error> {
    QueryOperation<String, any Error>("shown", "you") { context in
      "friends: \(try await context.value(of: Remote.you).friendIds.count)"
    }
    .derived()
  }

  /// The user's friends, at the end those that the server does not list yet.
  static var yourFriends: some QueryRequest<String, any Error> {
    QueryOperation<String, any Error>("shown", "yourFriends") { context in
      let you = try await context.value(of: Remote.you)
      let listed = try await context.friends(of: you.id)
      let accepted = try await context.value(of: Remote.requests).filter { person in
        you.friendIds.contains(person.id) && !listed.contains { $0.id == person.id }
      }
      return (listed + accepted).map(\.name).joined(separator: ", ")
    }
    .derived()
  }

  /// Another person's friends, with those that are the user's, too.
  static func friends(of id: Int) -> some QueryRequest<String, any Error> {
    QueryOperation<String, any Error>("shown", "friends", id) { context in
      let you = try await context.value(of: Remote.you)
      return try await context.friends(of: id)
        .map { you.friendIds.contains($0.id) ? "\($0.name) (friend)" : $0.name }
        .joined(separator: ", ")
    }
    .derived()
  }
}

extension OperationContext {
  fileprivate func friends(of id: Int) async throws -> [Person] {
    let list = Remote.friends(of: id)
    return try await self.value(of: list, initialState: PaginatedState(for: list)).flatMap(\.value.people)
  }
}
