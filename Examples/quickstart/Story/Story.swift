import PostService

/// The steps in their order.
///
/// A step that throws counts as a failure, and the story continues.
struct Story: Sendable {
  let steps: [Step]

  static let quickstart = Self(steps: [
    .fetch,
    .retry,
    .sharedStore,
    .sharedOperation,
    .cachedFirst,
    .matching,
    .notFound,
    .outage,
    .feed,
    .creation,
  ])

  func play(on stage: Stage) async {
    for (index, step) in self.steps.enumerated() {
      stage.transcript.title("\(index + 1). \(step.title)")
      stage.clear()
      do {
        switch step.body {
        case .withAnyServer(let play):
          try await play(stage)
        case .withOwnServer(let play):
          guard let server = stage.server else {
            stage.transcript.skip("this needs the built-in server, which fails on demand; run without --base-url")
            continue
          }
          try await play(stage, server)
        }
      } catch {
        stage.transcript.fail("the step ended with an error: \(error.inWords)")
      }
    }
  }
}
