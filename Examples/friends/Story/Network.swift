import Foundation
import Operation
import PostService

/// The screens of a program for friends, over one client.
final class Network: Sendable {
  let transcript: Transcript
  let server: PostServer
  let client: OperationClient
  let badge: Screen<FriendRequests.State>
  let you: Screen<Profile.State>
  let yourFriends: Screen<FriendList.State>
  let adasFriends: Screen<FriendList.State>
  let acceptance: OperationStore<MutationState<Person, Person, any Error>>

  /// - Parameters:
  ///   - transcript: Receives the lines of the story.
  ///   - server: The server of the posts.
  ///   - api: The client of the server.
  ///   - isOptimistic: Whether accepting a request has its effects, without which the story goes wrong.
  init(transcript: Transcript, server: PostServer, api: PostAPI, isOptimistic: Bool) {
    var context = OperationContext()
    context.postAPI = api
    let client = OperationClient(
      defaultContext: context,
      storeCreator: .default(networkObserver: nil, activityObserver: nil)
    )
    self.transcript = transcript
    self.server = server
    self.client = client
    let requests = client.store(for: FriendRequests().stale(after: .seconds(600)))
    self.badge = Screen("Badge", requests, transcript: transcript) {
      "requests: \($0?.count ?? 0)"
    }
    self.you = Screen("You", client.profile(of: 1), transcript: transcript) { "friends: \($0?.friendIds.count ?? 0)" }
    self.yourFriends = Screen("Your friends", client.friends(of: 1), transcript: transcript) { pages in
      pages.people.map(\.name).joined(separator: ", ")
    }
    self.adasFriends = Screen("Ada's friends", client.friends(of: 2), transcript: transcript) { pages in
      pages.people.map { $0.relationship == .friend ? "\($0.name) (friend)" : $0.name }.joined(separator: ", ")
    }
    self.acceptance = isOptimistic ? client.store(for: AcceptRequest.everywhere) : client.store(for: AcceptRequest())
  }
}

extension OperationClient {
  func profile(of id: Int) -> OperationStore<Profile.State> {
    self.store(for: Profile(id: id).stale(after: .seconds(600)))
  }

  func friends(of id: Int) -> OperationStore<FriendList.State> {
    self.store(for: FriendList(id: id).stale(after: .seconds(600)))
  }
}

// MARK: - What the server has

extension Network {
  /// The values, counts and dates of the stores with people.
  struct Record: Equatable {
    var badge: [Person]?
    var you: Person?
    var lists: [[Person]]
    var counts: [Int]
    var dates: [Date?]
  }

  var record: Record {
    let (badge, you, lists) = (self.badge.store, self.you.store, [self.yourFriends.store, self.adasFriends.store])
    return Record(
      badge: badge.currentValue,
      you: you.currentValue,
      lists: lists.map(\.currentValue.people),
      counts: [badge.valueUpdateCount, badge.errorUpdateCount, you.valueUpdateCount, you.errorUpdateCount]
        + lists.flatMap { [$0.valueUpdateCount, $0.errorUpdateCount] },
      dates: [badge.valueLastUpdatedAt, you.valueLastUpdatedAt] + lists.map(\.valueLastUpdatedAt)
    )
  }

  /// Checks that the screens show what the server has: fetching everything again changes nothing.
  func checkAgainstServer() async throws {
    let shown = self.record
    try await self.badge.store.fetch()
    try await self.you.store.fetch()
    try await self.yourFriends.store.refetchAllPages()
    try await self.adasFriends.store.refetchAllPages()
    let fetched = self.record
    let isSame = shown.badge == fetched.badge && shown.you == fetched.you && shown.lists == fetched.lists
    self.transcript.check("what the screens show is what the server has", isSame, found: "\(shown), and \(fetched)")
  }
}
