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
    self.transcript.title("1. Four screens, from three kinds of lists")
    try await self.badge.store.fetch()
    try await self.you.store.fetch()
    try await self.yourFriends.store.fetchNextPage()
    try await self.adasFriends.store.fetchNextPage()
    let subscription = OperationSubscription.combined([
      self.badge.store.subscribe(with: self.badge.handler),
      self.you.store.subscribe(with: self.you.handler),
      self.yourFriends.store.subscribe(with: self.yourFriends.handler),
      self.adasFriends.store.subscribe(with: self.adasFriends.handler),
    ])
    self.transcript.check(
      "they show what the server has",
      [self.badge.text, self.you.text, self.yourFriends.text, self.adasFriends.text],
      equals: ["requests: 3", "friends: 1", "Ada", "You, Eli, Fay"]
    )
    return subscription
  }

  private func requester(_ name: String) throws -> Person {
    guard let person = self.badge.store.currentValue?.first(where: { $0.name == name }) else {
      throw Missing(name: name)
    }
    return person
  }

  private func accept() async throws {
    self.transcript.title("2. A request is accepted on one screen, and all others change before the server answers")
    let eli = try self.requester("Eli")
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
    try await self.checkAgainstServer()
    self.badge.check()
    self.you.check()
    self.yourFriends.check()
    self.adasFriends.check()
  }

  private func refuse() async throws {
    self.transcript.title("3. The server refuses a request: everything is as it was")
    let before = self.record
    let fay = try self.requester("Fay")
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
    self.transcript.check("values, counts and dates are those of before", self.record == before)
    try await self.checkAgainstServer()
  }

  private func overlap() async throws {
    self.transcript.title("4. Two requests at once, the first of which is refused last")
    let (fay, gus) = (try self.requester("Fay"), try self.requester("Gus"))
    self.server.script.fail(next: 1, of: .accept(id: fay.id), with: .conflict)
    let gates = (fay: self.server.script.hold(.accept(id: fay.id)), gus: self.server.script.hold(.accept(id: gus.id)))
    let first = Task.immediate { try await self.acceptance.mutate(with: fay) }
    let second = Task.immediate { try await self.acceptance.mutate(with: gus) }
    self.badge.check("requests: 1", "requests: 0")
    self.yourFriends.check("Ada, Eli, Fay", "Ada, Eli, Fay, Gus")

    self.transcript.say(.caller, "fetches lists that the server still has without the two")
    try await self.badge.store.fetch()
    try await self.yourFriends.store.refetchAllPages()
    self.badge.check()
    self.yourFriends.check()
    self.transcript.say(.caller, "opens a profile for the first time")
    let profile = self.client.profile(of: fay.id)
    try await profile.fetch()
    self.transcript.check("it shows a friend, too", profile.currentValue?.relationship, equals: .friend)

    gates.gus.open()
    _ = try await second.value
    // The list was invalidated, and comes with one of them from the server and with the other from the call under way.
    try await self.yourFriends.store.refetchAllPages()
    self.transcript.check(
      "one has succeeded, and both are still shown",
      self.yourFriends.text,
      equals: "Ada, Eli, Gus, Fay"
    )
    gates.fay.open()
    _ = await first.result
    self.transcript.check(
      "when the other is refused, it goes alone",
      [self.badge.text, self.you.text, self.yourFriends.text, self.adasFriends.text],
      equals: ["requests: 1", "friends: 3", "Ada, Eli, Gus", "You, Eli (friend), Fay"]
    )
    self.transcript.check("also in the new profile", profile.currentValue?.relationship, equals: .hasRequested)
    try await self.checkAgainstServer()
    self.transcript.check("each call has its entry in the history", self.acceptance.history.count, equals: 4)
  }
}

/// A person whose request is expected, and missing.
private struct Missing: Error {
  let name: String
}
