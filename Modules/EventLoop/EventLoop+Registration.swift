#if os(Linux)
  extension EventLoop {
    /// Keeps callbacks coming until it is cancelled or dropped.
    package final class Registration: Sendable {
      private let loop: EventLoop
      private let entry: Entry

      init(loop: EventLoop, entry: Entry) {
        self.loop = loop
        self.entry = entry
      }

      deinit {
        self.cancel()
      }

      /// Ends the callbacks: when this returns none is running, and none begins any more.
      ///
      /// It waits for a callback of this registration that is running, so hold no lock that the callback takes. From a
      /// callback of the loop it does not wait. Who cancels the last registration waits for the end of the thread, unless
      /// another callback is running, after which it ends by itself.
      package func cancel() {
        self.loop.cancel(self.entry)
      }
    }
  }
#endif
