import Operation
import PostService

extension Network {
  func play() async throws {
    let subscription = try await self.open()
    defer { subscription.cancel() }
    try await self.accept()
    try await self.refuse()
    try await self.overlap()
  }

  private func open() async throws -> OperationSubscription {
    self.transcript.title("1. Four screens, each derived from the user's profile and from lists")
    var subscriptions: [OperationSubscription] = []
    for screen in self.screens { subscriptions.append(try await screen.open()) }
    let expected = ["requests: 3", "friends: 1", "Ada", "You, Eli, Fay"]
    self.transcript.check("they show what the server has", self.shown, equals: expected)
    return .combined(subscriptions)
  }

  private func requester(_ name: String) async throws -> Person {
    let requests = try await self.client.ensureValue(for: Remote.requests)
    guard let person = requests.first(where: { $0.name == name }) else { throw Missing(name: name) }
    return person
  }

  private func accept() async throws {
    self.transcript.title("2. A request is accepted on one screen, and all others change before the server answers")
    let eli = try await self.requester("Eli")
    let gate = self.server.script.hold(.accept(id: eli.id))
    let call = Task.immediate { try await self.acceptance.mutate(with: eli) }
    self.badge.check("requests: 2")
    self.you.check("friends: 2")
    self.yourFriends.check("Ada, Eli")
    self.adasFriends.check("You, Eli (friend), Fay")
    self.transcript.check("the call is under way", self.acceptance.isLoading)
    gate.open()
    let friend = try await call.value
    self.transcript.check("the server agrees", friend.relationship, equals: .friend)
    await self.checkAgainstServer()
    self.badge.check()
    self.you.check()
    self.yourFriends.check()
    self.adasFriends.check()
  }

  private func refuse() async throws {
    self.transcript.title("3. The server refuses a request: everything is as it was")
    let (you, shown) = (self.client.store(for: Remote.you), self.shown)
    let before = you.state
    let fay = try await self.requester("Fay")
    self.server.script.fail(next: 1, of: .accept(id: fay.id), with: .conflict)
    do {
      try await self.acceptance.mutate(with: fay)
      self.transcript.fail("the call throws")
    } catch {
      self.transcript.say(.caller, "gets an error: \(error.inWords)")
    }
    self.badge.check("requests: 1", "requests: 2")
    self.you.check("friends: 3", "friends: 2")
    self.yourFriends.check("Ada, Eli, Fay", "Ada, Eli")
    self.adasFriends.check("You, Eli (friend), Fay (friend)", "You, Eli (friend), Fay")
    self.transcript.check(
      "the profile, its counts and its date are as before",
      (you.currentValue, you.valueUpdateCount, you.errorUpdateCount, you.valueLastUpdatedAt)
        == (before.currentValue, before.valueUpdateCount, before.errorUpdateCount, before.valueLastUpdatedAt)
    )
    self.transcript.check("all screens are as before", self.shown, equals: shown)
    await self.checkAgainstServer()
  }

  private func overlap() async throws {
    self.transcript.title("4. Two requests at once, the first of which is refused last")
    let (fay, gus) = (try await self.requester("Fay"), try await self.requester("Gus"))
    self.server.script.fail(next: 1, of: .accept(id: fay.id), with: .conflict)
    let gates = (fay: self.server.script.hold(.accept(id: fay.id)), gus: self.server.script.hold(.accept(id: gus.id)))
    let first = Task.immediate { try await self.acceptance.mutate(with: fay) }
    let second = Task.immediate { try await self.acceptance.mutate(with: gus) }
    self.badge.check("requests: 1", "requests: 0")
    self.yourFriends.check("Ada, Eli, Fay", "Ada, Eli, Fay, Gus")

    self.transcript.say(.caller, "fetches lists that the server still has without the two")
    await self.refetch()
    self.badge.check()
    self.yourFriends.check()
    self.transcript.say(.caller, "opens a profile for the first time")
    let profile = self.client.store(for: Remote.profile(of: fay.id))
    try await profile.fetch()
    self.transcript.check("it shows a friend, too", profile.currentValue?.relationship, equals: .friend)

    gates.gus.open()
    _ = try await second.value
    // The list was invalidated, and comes with one of them from the server and with the other from the call under way.
    await self.refetch()
    self.transcript.check(
      "one has succeeded, and both are still shown",
      self.yourFriends.text,
      equals: "Ada, Eli, Gus, Fay"
    )
    gates.fay.open()
    _ = await first.result
    self.transcript.check(
      "when the other is refused, it goes alone",
      self.shown,
      equals: ["requests: 1", "friends: 3", "Ada, Eli, Gus", "You, Eli (friend), Fay"]
    )
    self.transcript.check("also in the new profile", profile.currentValue?.relationship, equals: .hasRequested)
    await self.checkAgainstServer()
    self.transcript.check("each call has its entry in the history", self.acceptance.history.count, equals: 4)
  }
}

/// A person whose request is expected, and missing.
private struct Missing: Error {
  let name: String
}
