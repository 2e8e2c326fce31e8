import Operation
import OperationHTTP
import PostService

extension Discussion {
  func play() async throws {
    let subscription = self.store.subscribe(with: self.handler)
    defer { subscription.cancel() }
    try await self.loadLazily()
    try await self.shareBranches()
    try await self.retryOneBranch()
    try await self.failOneBranch()
    try await self.reload()
    try await self.cancelReload()
    try await self.reply()
  }

  private func loadLazily() async throws {
    self.transcript.title("1. A tree is loaded branch by branch")
    // Joins the run that the subscription has started.
    try await self.store.run()
    self.show()
    self.check("only the comments on the post are there", has: [1, 2, 3], after: [.comments(post: 1): 1])
    try await self.store.loadChildren(of: 1)
    try await self.store.loadChildren(of: 4)
    self.show()
    self.check(
      "and the replies that were asked for",
      has: [1, 4, 7, 8, 5, 2, 3],
      after: [.replies(comment: 1): 1, .replies(comment: 4): 1]
    )
  }

  private func shareBranches() async throws {
    self.transcript.title("2. Six callers, two branches, two requests")
    let gates = [self.server.script.hold(.replies(comment: 2)), self.server.script.hold(.replies(comment: 7))]
    let calls = [2, 7, 2, 7, 2, 7].map { id in
      Task.immediate { try await self.store.loadChildren(of: id).map(\.id) }
    }
    let state = self.store.state
    self.transcript.check(
      "both branches load at once, and no other",
      [1, 2, 3, 4, 5, 7, 8].filter { state.isLoadingChildren(of: $0) },
      equals: [2, 7]
    )
    for gate in gates { gate.open() }
    var replies: [[Int]] = []
    for call in calls { replies.append(try await call.value) }
    self.transcript.check("all callers have their replies", replies, equals: [[6], [9], [6], [9], [6], [9]])
    self.check(
      "the replies are in their places",
      has: [1, 4, 7, 9, 8, 5, 2, 6, 3],
      after: [.replies(comment: 2): 1, .replies(comment: 7): 1]
    )
  }

  private func retryOneBranch() async throws {
    self.transcript.title("3. A branch that fails twice is asked for three times")
    self.server.script.fail(next: 2, of: .replies(comment: 2))
    try await self.store.loadChildren(of: 2)
    self.transcript.check("the state showed two more attempts", self.takeAttempts(), equals: [2, 3])
    self.check("the tree is whole", has: [1, 4, 7, 9, 8, 5, 2, 6, 3], after: [.replies(comment: 2): 3])
  }

  private func failOneBranch() async throws {
    self.transcript.title("4. A branch that cannot be loaded leaves the others alone")
    self.server.script.fail(next: 3, of: .replies(comment: 8))
    do {
      try await self.store.loadChildren(of: 8)
      self.transcript.fail("the call throws")
    } catch {
      self.transcript.say(.caller, "gets an error: \(error.inWords)")
    }
    self.show()
    let state = self.store.state
    let isAtNode = state.error(of: 8) is OperationHTTPStatusError && state.error(of: 7) == nil
    self.transcript.check("the error is at its node", isAtNode)
    self.check("the tree is as it was", has: [1, 4, 7, 9, 8, 5, 2, 6, 3], after: [.replies(comment: 8): 3])
    try await self.store.loadChildren(of: 8)
    self.transcript.check("it is gone when the branch has loaded", self.store.state.error(of: 8) == nil)
    self.check("which has no node", has: [1, 4, 7, 9, 8, 5, 2, 6, 3], after: [.replies(comment: 8): 1])
  }

  private func reload() async throws {
    self.transcript.title("5. An invalidation loads the branches again that are there")
    self.server.comments.remove(4)
    self.server.comments.add(ReplyDraft(author: "Eli", text: "Was it?"), to: 5)
    await self.client.invalidate(matching: ["comments"]).settled()
    self.show()
    self.check(
      "a removed comment took its branches along, and a new one is not loaded unasked",
      has: [1, 5, 2, 6, 3],
      after: [.comments(post: 1): 1, .replies(comment: 1): 1, .replies(comment: 2): 1]
    )
  }

  private func cancelReload() async throws {
    self.transcript.title("6. A cancelled reload takes back what it has shown")
    let before = self.tree
    self.server.comments.add(ReplyDraft(author: "Fay", text: "I saw it, too."), to: 1)
    let gate = self.server.script.hold(.replies(comment: 2))
    let states = self.store.states
    let reload = Task.immediate { try await self.store.run() }
    for await element in states where element.state.currentValue.children(of: 1)?.count == 2 { break }
    self.transcript.check("the first branches are new while the next is awaited", self.tree != before)
    await self.client.cancel(matching: ["comments"])
    _ = await reload.result
    self.transcript.check("afterwards the tree is as it was", self.tree == before && !self.store.isLoading)
    gate.open()
    self.server.script.reset()
    try await self.store.run()
    self.server.log.removeAll()
    self.check("another one brings the new reply", has: [1, 5, 11, 2, 6, 3], after: [:])
  }

  private func reply() async throws {
    self.transcript.title("7. A reply is in the tree at once, and stays when the server agrees")
    let addition = self.client.store(for: AddReply.on(post: 1))
    self.server.script.fail(next: 1, of: .reply(comment: 2), with: .conflict)
    for isWelcome in [false, true] {
      let before = self.tree
      let gate = self.server.script.hold(.reply(comment: 2))
      let draft = ReplyDraft(author: "Gus", text: isWelcome ? "The tin one." : "Yours.")
      let call = Task.immediate { try await addition.mutate(with: .init(comment: 2, draft: draft)) }
      if !isWelcome { self.show() }
      self.transcript.check("it is there while it is sent", self.tree.children(of: 2)?.map(\.id), equals: [6, 0])
      gate.open()
      let outcome = await call.result
      if isWelcome {
        let reply = try outcome.get()
        try await self.store.run()
        self.show()
        self.transcript.check("it stays, with the number that the server gave it", self.tree[reply.id], equals: reply)
      } else {
        self.transcript.check("it goes when the server refuses it", self.tree == before)
      }
    }
  }
}
