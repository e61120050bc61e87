"""Where a path is, how fast it moves and how it accelerates at a time, from one table of numbers.

A table is [kind, pieces n, numbers per piece, n + 1 times] and then the pieces, polynomials of degree five in the time
since their beginning, lowest power first. Before its first time and after its last a path rests.

    POSES   R(t) = R0 exp(theta(t)), position and theta polynomials: 4 + 3 x 6 + 3 x 6 numbers
    CIRCLE  centre + cos(phase(t)) e1 + sin(phase(t)) e2, orientation fixed: 3 + 3 + 3 + 4 + 6 numbers
    JOINTS  as many polynomials as there are coordinates, 6 numbers each
"""

from __future__ import annotations

import math

from multiarm.sweeps.jit import kernel, step, value
from multiarm.sweeps.trigonometry import sincos
from multiarm.sweeps.values import ZERO3, ZERO6, add3, apply9, axpy3, cross, dot3, quaternion_matrix, scale3

POSES, CIRCLE, JOINTS = range(3)
KIND, PIECES, WIDTH, TIMES = range(4)
POSE_WIDTH, CIRCLE_WIDTH, TERMS = 40, 19, 6
VALUES = 19  # of a pose: quaternion 4, position 3, velocity 6, acceleration 6
SMALL = 1.0  # rad^2: below it the coefficients of the Jacobian of exp are summed as series, above it nothing cancels


@value
def three_of(table, i):
    """Three numbers from i."""
    return (table[i], table[i + 1], table[i + 2])


@value
def polynomial(table, i, t):
    """Value, first and second derivative of the polynomial of degree five whose coefficients start at i."""
    c0, c1, c2, c3, c4, c5 = table[i], table[i + 1], table[i + 2], table[i + 3], table[i + 4], table[i + 5]
    x = c0 + t * (c1 + t * (c2 + t * (c3 + t * (c4 + t * c5))))
    rate = c1 + t * (2.0 * c2 + t * (3.0 * c3 + t * (4.0 * c4 + t * 5.0 * c5)))
    return x, rate, 2.0 * c2 + t * (6.0 * c3 + t * (12.0 * c4 + t * 20.0 * c5))


@value
def polynomials(table, i, t):
    """Three polynomials: values, first and second derivatives as 3-vectors."""
    x, y, z = polynomial(table, i, t), polynomial(table, i + TERMS, t), polynomial(table, i + 2 * TERMS, t)
    return (x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])


@step
def find_piece(table, t):
    """(place of the piece at time t, time since it began, whether t is inside the path)."""
    n = int(table[PIECES])
    first = TIMES + n + 1
    if t < table[TIMES]:
        return first, 0.0, False
    if t > table[TIMES + n]:
        return first + (n - 1) * int(table[WIDTH]), table[TIMES + n] - table[TIMES + n - 1], False
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) // 2
        if table[TIMES + middle] <= t:
            low = middle
        else:
            high = middle
    return first + low * int(table[WIDTH]), t - table[TIMES + low], True


@step
def exponential_terms(u):
    """b = (1 - cos x) / x^2 and c = (x - sin x) / x^3 with their derivatives to u = x^2: (b, c, b', c')."""
    if u < SMALL:
        b = c = b_rate = c_rate = 0.0
        power, before, factorial = 1.0, 0.0, 2.0  # (-u)^k, k (-u)^(k-1), (2 k + 2)!
        for k in range(11):
            b += power / factorial
            c += power / (factorial * (2 * k + 3))
            b_rate -= before / factorial
            c_rate -= before / (factorial * (2 * k + 3))
            before = (k + 1) * power
            power *= -u
            factorial *= (2 * k + 3) * (2 * k + 4)
        return b, c, b_rate, c_rate
    x = math.sqrt(u)
    sine, cosine = sincos(x)
    b_rate = (x * sine - 2.0 + 2.0 * cosine) / (2.0 * u * u)
    c_rate = (3.0 * sine - x * cosine - 2.0 * x) / (2.0 * u * u * x)
    return (1.0 - cosine) / u, (x - sine) / (u * x), b_rate, c_rate


@value
def exponential_rates(theta, rate, change):
    """omega and omega-dot of exp(theta), in the axes it starts from: J theta' and J theta'' + J' theta'.

    J = 1 + b theta~ + c theta~^2 is the left Jacobian of the rotation group.
    """
    b, c, b_rate, c_rate = exponential_terms(dot3(theta, theta))
    growth = 2.0 * dot3(theta, rate)
    across, across_change = cross(theta, rate), cross(theta, change)
    twice = cross(theta, across)
    omega = axpy3(c, twice, axpy3(b, across, rate))
    alpha = axpy3(c, cross(theta, across_change), axpy3(b, across_change, change))
    turning = axpy3(c_rate * growth, twice, scale3(b_rate * growth, across))
    return omega, add3(alpha, axpy3(c, cross(rate, across), turning))


@value
def multiply_quaternions(p, q):
    """p q, the rotation q followed by p; scalar last."""
    return (
        p[3] * q[0] + p[0] * q[3] + p[1] * q[2] - p[2] * q[1],
        p[3] * q[1] - p[0] * q[2] + p[1] * q[3] + p[2] * q[0],
        p[3] * q[2] + p[0] * q[1] - p[1] * q[0] + p[2] * q[3],
        p[3] * q[3] - p[0] * q[0] - p[1] * q[1] - p[2] * q[2],
    )


@value
def exponential(theta):
    """The quaternion of a rotation vector."""
    angle = math.sqrt(dot3(theta, theta))
    sine, cosine = sincos(0.5 * angle)
    share = sine / angle if angle > 1e-8 else 0.5
    return (share * theta[0], share * theta[1], share * theta[2], cosine)


@step
def rotation_vector(q):
    """The rotation vector of a unit quaternion, the shorter way round."""
    length = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2])
    w = abs(q[3])
    share = 2.0 * math.atan2(length, w) / length if length > 1e-12 else 2.0
    if q[3] < 0.0:
        share = -share
    return (share * q[0], share * q[1], share * q[2])


@value
def on_poses(table, i, t):
    """A piece between poses."""
    start = (table[i], table[i + 1], table[i + 2], table[i + 3])
    position, velocity, acceleration = polynomials(table, i + 4, t)
    theta, rate, change = polynomials(table, i + 4 + 3 * TERMS, t)
    omega, alpha = exponential_rates(theta, rate, change)
    axes = quaternion_matrix(start[0], start[1], start[2], start[3])
    turned = multiply_quaternions(start, exponential(theta))
    return turned, position, (apply9(axes, omega), velocity), (apply9(axes, alpha), acceleration)


@value
def on_circle(table, i, t):
    """A piece of a circle."""
    across, along = three_of(table, i + 3), three_of(table, i + 6)
    phase, rate, change = polynomial(table, i + 13, t)
    sine, cosine = sincos(phase)
    outward = axpy3(cosine, across, scale3(sine, along))
    forward = axpy3(cosine, along, scale3(-sine, across))
    acceleration = axpy3(change, forward, scale3(-rate * rate, outward))
    axes = (table[i + 9], table[i + 10], table[i + 11], table[i + 12])
    return axes, add3(three_of(table, i), outward), (ZERO3, scale3(rate, forward)), (ZERO3, acceleration)


@step
def path_at(table, t):
    """(quaternion, position, [omega; v], [omega-dot; v-dot]) of a path of poses at time t, world axes."""
    i, since, inside = find_piece(table, t)
    if table[KIND] == CIRCLE:
        found = on_circle(table, i, since)
    else:
        found = on_poses(table, i, since)
    if not inside:
        return found[0], found[1], ZERO6, ZERO6
    return found


@step
def joints_at(table, t, q, v, a):
    """Coordinates, rates and accelerations of a path of joints at time t."""
    i, since, inside = find_piece(table, t)
    for j in range(int(table[WIDTH]) // TERMS):
        q[j], v[j], a[j] = polynomial(table, i + TERMS * j, since)
        if not inside:
            v[j] = a[j] = 0.0


@kernel
def path_values(table, t, out):
    """`path_at` into the 19 numbers of `out`: quaternion, position, velocity, acceleration."""
    axes, position, velocity, acceleration = path_at(table, t)
    out[0], out[1], out[2], out[3] = axes
    for i in range(3):
        out[4 + i] = position[i]
        out[7 + i], out[10 + i] = velocity[0][i], velocity[1][i]
        out[13 + i], out[16 + i] = acceleration[0][i], acceleration[1][i]
    return 0


@kernel
def joint_path_values(table, t, q, v, a):
    """`joints_at` for callers from Python."""
    joints_at(table, t, q, v, a)
    return 0
