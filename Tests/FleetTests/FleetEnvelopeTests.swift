import TestFixtures
import Testing

@testable import OperationFleet

/// What nodes of different versions of a program send each other: the form of a value stays.
@Suite(.bounded) struct FleetEnvelopeTests {
  @Test func `A value has a line with the format and the node before its JSON`() throws {
    let text = "fleet1 api-7\n{\"title\":\"hello\"}"
    let envelope = try #require(FleetEnvelope(Array(text.utf8)))
    expect(envelope.node, equals: "api-7")
    expect(String(decoding: envelope.content, as: UTF8.self), equals: "{\"title\":\"hello\"}")
    expect(FleetEnvelope(Array("{\"title\":\"hello\"}".utf8), node: "api-7").bytes, equals: Array(text.utf8))
  }

  @Test func `A name with a line break keeps the form`() throws {
    let bytes = FleetEnvelope(Array("1".utf8), node: "a\nb").bytes
    expect(String(decoding: bytes, as: UTF8.self), equals: "fleet1 a b\n1")
  }

  @Test(arguments: ["", "1", "fleet1", "fleet1\n1", "fleet2 a\n1", "fleet10 a\n1"])
  func `What has another form is not read`(_ text: String) {
    expect(FleetEnvelope(Array(text.utf8))?.node, equals: nil)
  }
}
