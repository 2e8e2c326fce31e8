import Observation
import PostService

/// What a user types, scene by scene, with a check of each claim.
@MainActor
struct Story {
  let transcript: Transcript
  let index: TitleIndex
  let field: SearchField

  func play() async throws {
    try await self.type()
    try await self.goOn()
    await self.goBack()
    await self.fail()
  }

  /// Types a text letter by letter.
  private func type(_ letters: String) async throws {
    for letter in letters {
      self.field.text.append(letter)
      try await Task.sleep(for: .milliseconds(5))
    }
    self.transcript.say(.caller, "has typed \"\(self.field.text)\"")
  }

  /// Waits until the screen is as it should be.
  @discardableResult
  private func shows(_ isAsExpected: @escaping @Sendable (Screen) -> Bool) async -> Screen {
    let field = self.field
    for await screen in Observations({ field.screen }) where isAsExpected(screen) {
      self.transcript.say(.state, screen.titles.joined(separator: " | "))
      return screen
    }
    preconditionFailure("The screen is observed for as long as it is there.")
  }

  private func type() async throws {
    self.transcript.title("1. Five letters are typed")
    try await self.type("swift")
    let screen = await self.shows { !$0.titles.isEmpty }
    self.transcript.check("the server is asked for the last text alone", self.index.questions, equals: ["swift"])
    self.transcript.check("the titles are there", screen.titles.count, equals: 3)
    self.transcript.check("and are those of the text", !screen.isPrevious && !screen.isLoading)
  }

  private func goOn() async throws {
    self.transcript.title("2. More is typed while the server is slow")
    let gate = self.index.hold("swift a")
    try await self.type(" a")
    let waiting = await self.shows { $0.isLoading }
    self.transcript.check("the titles before stay on the screen", waiting.titles.count == 3 && waiting.isPrevious)
    await self.index.isAsked(for: "swift a")
    try await self.type("n")
    let screen = await self.shows { !$0.isPrevious }
    self.transcript.check("the newest text is the one that counts", screen.titles, equals: ["Swift and servers"])
    gate.open()
    self.transcript.check(
      "each text was asked for once",
      self.index.questions,
      equals: ["swift", "swift a", "swift an"]
    )
    self.transcript.check("the answer that came too late is not shown", self.field.screen.titles == screen.titles)
  }

  private func goBack() async {
    self.transcript.title("3. The text of the beginning is typed again")
    self.field.text = "swift"
    let screen = self.field.screen
    self.transcript.check(
      "its titles are there at once",
      screen.titles.count == 3 && !screen.isPrevious && !screen.isLoading
    )
    self.transcript.check("the server is not asked", self.index.questions.count, equals: 3)
  }

  private func fail() async {
    self.transcript.title("4. The server fails for a text")
    self.index.refuse("swed")
    self.field.text = "swed"
    let failed = await self.shows { $0.hasFailed }
    self.transcript.check("no titles are shown for it", failed.titles.isEmpty && !failed.isPrevious)
    self.field.text = "swe"
    let screen = await self.shows { !$0.titles.isEmpty && !$0.isPrevious }
    self.transcript.check("the next text has its own", screen.titles, equals: ["A summer in Sweden"])
  }
}
