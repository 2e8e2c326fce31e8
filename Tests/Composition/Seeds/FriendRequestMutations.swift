import Operation

// The reference documents' mutations that update friends lists.

struct FriendRequestArguments: Sendable {
  let userId: Int
}

/// Changes one list after the server has accepted the request.
struct DirectFriendRequest: MutationRequest, Hashable {
  let listOwner: Int

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: FriendRequestArguments,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    guard let client = context.operationClient else { return }
    try await context.socialServer.sendFriendRequest(userId: arguments.userId)

    // Friend request sent successfully, now update the friends list.
    let query = User.FriendsQuery(userId: self.listOwner)
    let store = client.store(for: query)
    store.withExclusiveAccess { store in
      store.currentValue = store.currentValue.updateRelationship(
        for: arguments.userId,
        to: .friendRequestSent
      )
    }
  }
}

/// Changes all lists after the server has accepted the request.
struct PatternFriendRequest: MutationRequest, Hashable {
  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: FriendRequestArguments,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    guard let client = context.operationClient else { return }
    try await context.socialServer.sendFriendRequest(userId: arguments.userId)

    let stores = client.stores(
      matching: ["user-friends"],
      of: User.FriendsQuery.State.self
    )
    for store in stores {
      store.withExclusiveAccess { store in
        store.currentValue = store.currentValue.updateRelationship(
          for: arguments.userId,
          to: .friendRequestSent
        )
      }
    }
  }
}

/// Changes all lists at once, and changes them back if the server refuses the request.
struct OptimisticFriendRequest: MutationRequest, Hashable {
  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: FriendRequestArguments,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    // Optimistically update the user relationships, and reset them
    // to the default state if the mutation fails.
    do {
      self.updateRelationships(to: .friendRequestSent, userId: arguments.userId, in: context)
      try await context.socialServer.sendFriendRequest(userId: arguments.userId)
    } catch {
      self.updateRelationships(to: .notFriends, userId: arguments.userId, in: context)
      throw error
    }
  }

  private func updateRelationships(
    to relationship: User.Relationship,
    userId: Int,
    in context: OperationContext
  ) {
    guard let client = context.operationClient else { return }
    let stores = client.stores(
      matching: ["user-friends"],
      of: User.FriendsQuery.State.self
    )
    for store in stores {
      store.withExclusiveAccess { store in
        store.currentValue = store.currentValue.updateRelationship(
          for: userId,
          to: relationship
        )
      }
    }
  }
}

/// Fetches all lists again after the server has accepted the request.
struct RefetchingFriendRequest: MutationRequest, Hashable {
  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: FriendRequestArguments,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    guard let client = context.operationClient else { return }
    try await context.socialServer.sendFriendRequest(userId: arguments.userId)

    // Friend request sent successfully, now refetch all
    // friends lists in the app.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for store in client.stores(matching: ["user-friends"]) {
        group.addTask { try await store.fetch() }
      }
      try await group.waitForAll()
    }
  }
}
