#if SwiftOperationDevtools
  public import OperationCore
  public import OperationEvents
  internal import OperationPlatform

  /// Shows what the stores of a client do, live, on a page that a browser of this machine opens.
  ///
  /// ```swift
  /// let devtools = Devtools(client)
  /// try await devtools.run()  // Prints an address such as http://127.0.0.1:49152/?token=5c0e…, and serves it.
  /// ```
  ///
  /// The page is served on the loopback interface alone, to those who have the token of the address. It changes nothing unless
  /// `allowsActions` is true. Use it in development: whoever can read the token can read the values of the stores, except
  /// those that are an `OperationSecret` or unstored.
  public final class Devtools: Sendable {
    /// What the page shows of a client; nil for a recording.
    let liveFeed: LiveFeed?
    private let server: PageServer

    /// Creates a page for a client, which is not served yet.
    ///
    /// - Parameters:
    ///   - client: The client, which the page keeps alive.
    ///   - allowsActions: Whether the page can run, invalidate, reset and cancel operations, set values, and simulate.
    ///   - simulation: What the page can simulate; nil for nothing.
    ///   - port: The port; 0 for one that is free.
    ///   - token: What the address has, in place of random numbers: 16 to 128 letters of ASCII, digits, hyphens and
    ///     underscores. With a port and a token the address is the same in each run of the program.
    public init(
      _ client: OperationClient,
      allowsActions: Bool = false,
      simulation: Simulation? = nil,
      port: UInt16 = 0,
      token: String? = nil
    ) {
      let feed = LiveFeed(client, allowsActions: allowsActions, simulation: simulation)
      self.liveFeed = feed
      self.server = PageServer(feed, port: port, token: token)
    }

    /// Creates a page for a recording, as ``record(to:limit:)`` and the button "Save recording" of a page write one.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - port: The port; 0 for one that is free.
    ///   - token: What the address has, as for a client.
    /// - Throws: ``DevtoolsError`` if the file cannot be read, or is no recording.
    public init(recordedIn path: String, port: UInt16 = 0, token: String? = nil) throws {
      self.liveFeed = nil
      self.server = PageServer(try RecordingFeed(path: path), port: port, token: token)
    }

    /// Serves the page until the task is cancelled or ``stop()`` is called.
    ///
    /// When it returns, nothing is served or collected any more, and it can be called again.
    ///
    /// - Parameter announce: Called with the address of the page once it is served. By default it is written to the standard
    ///   error in a line.
    /// - Throws: ``DevtoolsError`` if the port cannot be served, or `CancellationError`.
    public func run(
      announcing announce: @Sendable (_ address: String) -> Void = {
        Devtools.write("Swift Operation devtools: \($0)\n")
      }
    ) async throws {
      try Task.checkCancellation()
      announce(try await self.start())
      await withTaskCancellationHandler {
        await self.server.ended()
      } onCancel: {
        Task(name: "Devtools") { await self.stop() }
      }
      try Task.checkCancellation()
    }

    /// Begins to serve the page, and goes on until ``stop()`` is called or the value is released.
    ///
    /// - Returns: The address of the page, with its port and token. A second call, also at the same time, returns the
    ///   same one until ``stop()``.
    /// - Throws: ``DevtoolsError`` if the port cannot be served. Nothing is left of the attempt.
    @discardableResult
    public func start() async throws -> String {
      try await self.server.start()
    }

    /// Ends the connections and stops serving the page. When it returns, nothing is served or collected any more.
    public func stop() async {
      await self.server.stop()
    }

    /// Writes a line to the standard error.
    @usableFromInline
    static func write(_ line: String) {
      let bytes = Array(line.utf8)
      // All of it at once: lines of other threads do not mix with it.
      _ = OperationPlatform.write(STDERR_FILENO, bytes, bytes.count)
    }
  }

  extension Devtools {
    /// Shows limits, breakers, budgets and the like on the page, with the numbers that they have now.
    ///
    /// ```swift
    /// devtools.show { [limit.snapshot(), breaker.snapshot()] }
    /// ```
    ///
    /// - Parameter snapshots: Called about twice a second while the page is open.
    public func show(_ snapshots: @escaping @Sendable () -> [any OperationResilienceSnapshot]) {
      self.liveFeed?.exhibits.add(snapshots)
    }

    /// Shows the operations of a scheduler and their waits as a graph on the page, next to the graph of the client's runs.
    ///
    /// ```swift
    /// devtools.showWaits(of: scheduler)
    /// ```
    ///
    /// - Parameter source: The scheduler, which the page keeps alive. It is asked once a second while the graph is shown.
    public func showWaits(of source: some OperationWaitGraphSource) {
      self.liveFeed?.exhibits.add(source)
    }
  }
#endif
