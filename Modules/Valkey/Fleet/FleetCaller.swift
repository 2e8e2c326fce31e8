#if SwiftOperationValkey
  internal import OperationCore
  internal import OperationFleet

  /// Runs the scripts of a fleet.
  final class FleetCaller: Sendable {
    /// What a script has answered.
    struct Answer: Sendable {
      let epoch: FleetEpoch
      /// What comes after the generation and the epoch.
      let rest: [Reply]
      fileprivate let generation: String

      fileprivate init?(_ reply: Reply) {
        guard let elements = reply.array, elements.count >= 2, let generation = elements[0].text,
          let epoch = elements[1].integer
        else { return nil }
        (self.generation, self.epoch) = (generation, FleetEpoch(rawValue: epoch))
        self.rest = Array(elements[2...])
      }
    }

    private let keeper: ConnectionKeeper
    private let keys: FleetKeys
    private let position = FleetPosition()
    private let hashes: ScriptHashes

    init(
      _ opening: ConnectionOpening,
      keys: FleetKeys,
      timeout: Duration,
      maximumAge: Duration?,
      deadlines: any DeadlineSource
    ) {
      let hashes = ScriptHashes()
      self.hashes = hashes
      self.keys = keys
      self.keeper = ConnectionKeeper(opening, timeout: timeout, maximumAge: maximumAge, deadlines: deadlines) {
        connection throws(ValkeyError) in
        for script in FleetScript.all {
          let reply = try await connection.perform(Request("SCRIPT", "LOAD", script.text), within: timeout)
          if case .error(let text) = reply { throw ValkeyError(reply: text, connection.name) }
          guard let hash = reply.text else { throw .unexpected(connection.name) }
          hashes.set(hash, of: script)
        }
      }
    }

    var name: ServerName { self.keeper.name }

    func snapshot(_ name: String) -> ValkeySnapshot { self.keeper.snapshot(name) }

    func close() { self.keeper.close() }

    /// Runs a script.
    ///
    /// - Parameters:
    ///   - script: The script.
    ///   - keys: Its keys, after those that all have.
    ///   - arguments: Its arguments, after those that all have.
    ///   - read: Reads the rest of the answer, with a token or a revision that is in it; nil for an answer of another kind.
    /// - Returns: What was read.
    /// - Throws: A ``FleetError``, or `CancellationError`.
    nonisolated(nonsending) func call<Result>(
      _ script: FleetScript,
      keys: [String] = [],
      _ arguments: (inout Request) -> Void,
      reading read: (Answer) -> (Result, number: Int64)?
    ) async throws -> Result {
      do throws(ValkeyError) {
        let reply = try await self.reply(to: script, keys, arguments)
        guard let answer = Answer(reply), let (result, number) = read(answer) else { throw .unexpected(self.name) }
        self.position.note(answer.generation, epoch: answer.epoch.rawValue, number: number)
        return result
      } catch {
        if error.code == .cancelled { throw CancellationError() }
        throw FleetError(error)
      }
    }

    private nonisolated(nonsending) func reply(
      to script: FleetScript,
      _ keys: [String],
      _ arguments: (inout Request) -> Void
    ) async throws(ValkeyError) -> Reply {
      var hash = self.hashes[script]
      var isAgain = false
      while true {
        let connection = try await self.keeper.connection()
        hash = isAgain ? hash : self.hashes[script]
        let request = self.request(script, hash, keys, arguments)
        let reply: Reply
        do throws(ValkeyError) {
          // The whole time for each: one that has waited for the connection must not close it for the others.
          reply = try await connection.perform(request, within: self.keeper.timeout)
        } catch {
          // The server has often closed only this connection, such as one that was idle for long. Once more does no harm.
          guard error.code == .unavailable, !isAgain else { throw error }
          isAgain = true
          continue
        }
        guard case .error(let text) = reply else { return reply }
        if text.hasPrefix("NOSCRIPT"), hash != nil {
          // All scripts were removed. This call takes the text with it, and the next one finds the script again.
          (hash, isAgain) = (nil, true)
          continue
        }
        let error = ValkeyError(reply: text, connection.name)
        // Another host may be the primary by now, and a server that is loading says nothing of use for a while.
        if [.readOnly, .unsupported, .unavailable].contains(error.code) { connection.close(error) }
        throw error
      }
    }

    private func request(
      _ script: FleetScript,
      _ hash: String?,
      _ keys: [String],
      _ arguments: (inout Request) -> Void
    ) -> Request {
      var request = hash.map { Request("EVALSHA", $0) } ?? Request("EVAL", script.text)
      request.append(Int64(keys.count + 2))
      for key in [self.keys.clock, self.keys.names] + keys { request.append(key) }
      let (generation, highest) = self.position.last
      request.append(self.keys.channel)
      request.append(generation)
      request.append(highest)
      // The name of the generation that the script begins if it has to.
      request.append(String(UInt64.random(in: 0...(.max)), radix: 36))
      arguments(&request)
      return request
    }
  }

  /// The names under which servers know the scripts: all have the same for the same script.
  private final class ScriptHashes: Sendable {
    private let hashes = Locked<[FleetScript: String]>([:])

    subscript(_ script: FleetScript) -> String? { self.hashes.withLock { $0[script] } }

    func set(_ hash: String, of script: FleetScript) {
      self.hashes.withLock { $0[script] = hash }
    }
  }
#endif
