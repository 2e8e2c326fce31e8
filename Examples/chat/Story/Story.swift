import Operation
import OperationHTTP
import PostService

/// What happens in the room, scene by scene, with a check of each claim.
struct Story: Sendable {
  let transcript: Transcript
  let server: ChatServer
  let room: Room
  let client = OperationClient(storeCreator: .default(networkObserver: nil, activityObserver: nil))

  func play() async throws {
    for text in ["Hello", "Anyone?"] { self.server.post(text) }
    let store = self.client.store(for: self.room.messages)
    let (ada, ben) = await self.open(store)
    try await self.write(ada, ben)
    await self.lose(ada, ben)
    await self.end(ada, ben)
    await self.leave(store, ada, ben)
    await self.beginAnew(store)
  }

  private func open(_ store: OperationStore<Reader.State>) async -> (Reader, Reader) {
    self.transcript.title("1. Two readers open the room")
    let ada = Reader("Ada", store, transcript: self.transcript)
    await ada.shows("Hello", "Anyone?")
    let ben = Reader("Ben", store, transcript: self.transcript)
    await ben.shows("Hello", "Anyone?")
    self.transcript.check("they share one connection, from the beginning", self.server.opened, equals: [nil])
    self.transcript.check("it stays open", store.isLoading)
    return (ada, ben)
  }

  private func write(_ ada: Reader, _ ben: Reader) async throws {
    self.transcript.title("2. One of them writes")
    let sent = try await self.client.store(for: self.room.sending).mutate(with: "Hi!")
    self.transcript.check("the server has given it a number", sent.id, equals: 3)
    for reader in [ada, ben] { await reader.shows("Hello", "Anyone?", "Hi!") }
    self.transcript.check("both get it by the connection that is open", self.server.opened.count, equals: 1)
  }

  private func lose(_ ada: Reader, _ ben: Reader) async {
    self.transcript.title("3. The connection is cut, and the server is busy when the client comes again")
    self.server.refuse(1)
    self.server.end(throwing: ChatServer.Broken())
    await self.server.closed(1)
    self.server.post("Did you")
    self.server.post("hear that?")
    for reader in [ada, ben] { await reader.shows("Hello", "Anyone?", "Hi!", "Did you", "hear that?") }
    self.transcript.check("it goes on after the last message", self.server.opened, equals: [nil, "3", "3"])
    self.transcript.check("the messages stayed meanwhile", ada.shown.allSatisfy { $0.first == "Hello" })
    self.transcript.check("the attempts are shown", ada.failures.count, equals: 2)
    self.transcript.check("the busy server is one of them", ada.failures.last?.hasPrefix("503"), equals: true)
  }

  private func end(_ ada: Reader, _ ben: Reader) async {
    self.transcript.title("4. The server ends the answer, as some do after a minute")
    self.server.end()
    await self.server.closed(3)
    self.server.post("Yes")
    for reader in [ada, ben] { await reader.shows("Hello", "Anyone?", "Hi!", "Did you", "hear that?", "Yes") }
    self.transcript.check("that is no end of the room", self.server.opened.last, equals: "5")
    let counts = ada.shown.map(\.count)
    self.transcript.check("each message was added once", counts, equals: counts.sorted())
  }

  private func leave(_ store: OperationStore<Reader.State>, _ ada: Reader, _ ben: Reader) async {
    self.transcript.title("5. Both leave, and one comes back")
    ada.close()
    self.transcript.check("with one reader left the connection is open", store.isLoading)
    ben.close()
    await self.server.closed(4)
    self.transcript.check("without readers it is closed", !store.isLoading && store.error == nil)
    self.server.post("Where are you?")
    let again = Reader("Ada", store, transcript: self.transcript)
    self.transcript.check("what was there is shown at once", again.shown.first?.count, equals: 6)
    await again.shows("Hello", "Anyone?", "Hi!", "Did you", "hear that?", "Yes", "Where are you?")
    self.transcript.check("what has come meanwhile follows", self.server.opened.last, equals: "6")
    again.close()
    await self.server.closed(5)
  }

  private func beginAnew(_ store: OperationStore<Reader.State>) async {
    self.transcript.title("6. What is known to be wrong is read from the beginning")
    await self.client.invalidate(matching: ["room"]).settled()
    let again = Reader("Ada", store, transcript: self.transcript)
    await again.shows("Hello")
    await again.shows("Hello", "Anyone?", "Hi!", "Did you", "hear that?", "Yes", "Where are you?")
    self.transcript.check("the connection names no message", self.server.opened.last, equals: .some(nil))
    again.close()
    await self.server.closed(6)
  }
}
