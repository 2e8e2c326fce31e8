import Foundation
import Operation
import OperationDerivation
import PostService

/// The screens of a program for friends, over one client.
final class Network: Sendable {
  let transcript: Transcript
  let server: PostServer
  let client: OperationClient
  let badge: Screen
  let you: Screen
  let yourFriends: Screen
  let adasFriends: Screen
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
    self.badge = Screen("Badge", client.store(for: Shown.badge), transcript: transcript)
    self.you = Screen("You", client.store(for: Shown.you), transcript: transcript)
    self.yourFriends = Screen("Your friends", client.store(for: Shown.yourFriends), transcript: transcript)
    self.adasFriends = Screen("Ada's friends", client.store(for: Shown.friends(of: 2)), transcript: transcript)
    self.acceptance = isOptimistic ? client.store(for: AcceptRequest.everywhere) : client.store(for: AcceptRequest())
  }
}

// MARK: - What the server has

extension Network {
  var screens: [Screen] { [self.badge, self.you, self.yourFriends, self.adasFriends] }

  /// What the screens show.
  var shown: [String] { self.screens.map(\.text) }

  /// Checks that the screens show what the server has: fetching everything again changes nothing.
  func checkAgainstServer() async {
    let before = self.shown
    await self.refetch()
    self.transcript.check("what the screens show is what the server has", before, equals: self.shown)
  }

  /// Fetches everything that is shown, and waits until the screens show it.
  func refetch() async {
    await self.client.invalidate().settled()
    await self.client.settledDerivations()
  }
}
