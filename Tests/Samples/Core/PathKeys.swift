// swift-format-ignore-file
// The code that the plugin generates from the file in the article.

import Operation

/// The paths of this module's operations, with the types of their states.
nonisolated enum PathKeys {
  /// The prefix of all paths.
  static var path: OperationPath { [] }
}

nonisolated extension PathKeys {
  /// The paths below `["users"]`.
  enum users {
    /// The prefix `["users"]`.
    static var path: OperationPath { ["users"] }
  }
}

nonisolated extension PathKeys.users {
  /// The path `["users", "profile", id]`.
  static func profile(id: User.ID) -> OperationPathKey<User.ProfileQuery.State> { .init(path: ["users", "profile", id]) }

  /// The prefix `["users", "profile"]`, for all values of the parameters.
  static var profile: OperationPathPrefix<User.ProfileQuery.State> { .init(path: ["users", "profile"]) }

  /// The path `["users", "friends", userId]`.
  static func friends(userId: Int) -> OperationPathKey<PaginatedState<Int, [User], any Error>> { .init(path: ["users", "friends", userId]) }

  /// The prefix `["users", "friends"]`, for all values of the parameters.
  static var friends: OperationPathPrefix<PaginatedState<Int, [User], any Error>> { .init(path: ["users", "friends"]) }
}

nonisolated extension User.ProfileQuery {
  /// The path of `PathKeys.users.profile`.
  var path: OperationPath { PathKeys.users.profile(id: self.id).path(for: Self.self) }
}
