package import FlyingSocks
import Foundation

/// A socket pool that turns Nagle's algorithm off.
///
/// The server writes an answer's head and its body one after the other; on a kept connection the body would wait for
/// the client's delayed acknowledgement, and each answer would reach its caller 40 ms after the server has reported it.
package struct PromptSocketPool<Base: AsyncSocketPool>: AsyncSocketPool {
  package let base: Base

  package func prepare() async throws {
    try await self.base.prepare()
  }

  package func run() async throws {
    try await self.base.run()
  }

  package func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
    // The listening socket waits here before it accepts, and accepted sockets inherit the option from it.
    try? socket.setValue(true, for: BoolSocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY))
    try await self.base.suspendSocket(socket, untilReadyFor: events)
  }
}
