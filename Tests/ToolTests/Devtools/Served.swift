#if SwiftOperationDevtools
  import Foundation
  import OperationCore
  import OperationDevtools
  import OperationTop
  import Testing

  /// A page that is served for the time of a test, and requests to it as anybody on this machine can send them.
  struct Served {
    let devtools: Devtools
    let address: DevtoolsAddress

    init(_ devtools: Devtools) async throws {
      self.devtools = devtools
      let text = try await devtools.start()
      self.address = try #require(DevtoolsAddress(text), "no address: \(text)")
    }

    /// Serves a page while a test looks at it.
    static func with(_ devtools: Devtools, _ body: (Served) async throws -> Void) async throws {
      let served = try await Served(devtools)
      do {
        try await body(served)
      } catch {
        await devtools.stop()
        throw error
      }
      await devtools.stop()
    }

    /// The fields of a request that is accepted.
    var fields: [(String, String)] { LoopbackHTTP.fields(for: self.address) }

    func get(_ target: String) async throws -> LoopbackHTTP.Answer { try await self.send("GET", target, self.fields) }

    func post(_ json: String) async throws -> LoopbackHTTP.Answer {
      try await self.send("POST", "/api/action", self.fields + [("Content-Type", "application/json")], json)
    }

    func send(
      _ method: String,
      _ target: String,
      _ fields: [(String, String)],
      _ body: String = ""
    ) async throws -> LoopbackHTTP.Answer {
      let text = LoopbackHTTP.text(method, target, fields: fields + [("Connection", "close")], body: body)
      // The program answers on threads that other tests keep busy.
      return try await Self.onThread { [port = self.address.port] in
        try LoopbackHTTP.send(text, to: port, waitingAtMost: 60)
      }
    }

    /// Runs blocking code on a thread of its own.
    static func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
      let result = await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: Result { try body() }) }
      }
      return try result.get()
    }
  }
#endif
