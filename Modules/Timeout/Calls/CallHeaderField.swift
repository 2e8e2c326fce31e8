/// A header field that tells a server how long its caller waits.
///
/// A time that is left needs no clocks that agree, but does not count the time on the way. A date counts it, where the
/// clocks of both machines agree.
public struct CallHeaderField: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    case grpc
    case milliseconds
    case date
  }

  /// The name of the field.
  public let name: String

  let kind: Kind

  private init(_ name: String, _ kind: Kind) {
    self.name = name
    self.kind = kind
  }

  /// The time that is left, as `grpc-timeout`: at most eight digits and a unit.
  ///
  /// [gRPC over HTTP/2](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md) defines it. Proxies such as Envoy
  /// observe it, and plain HTTP can use it as well.
  public static let grpcTimeout = CallHeaderField("grpc-timeout", .grpc)

  /// The time that is left in milliseconds, as `x-envoy-expected-rq-timeout-ms`.
  ///
  /// [Envoy](https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/router_filter) sends it to the
  /// services behind it.
  public static let envoyExpectedTimeout = CallHeaderField("x-envoy-expected-rq-timeout-ms", .milliseconds)

  /// The deadline as a date, as `X-Request-Deadline`: `2026-01-31T12:00:00.250Z`.
  ///
  /// No standard defines it, and services differ in what they write. A number is read as milliseconds since 1970.
  public static let requestDeadline = CallHeaderField("X-Request-Deadline", .date)

  /// All fields.
  public static let all = [grpcTimeout, envoyExpectedTimeout, requestDeadline]
}

extension CallHeaderField: CustomStringConvertible {
  /// The name of the field.
  public var description: String { self.name }
}
