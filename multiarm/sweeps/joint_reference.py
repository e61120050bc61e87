"""Where joints should be, by how much they are off, and the accelerations or torques that take them there."""

from __future__ import annotations

from multiarm.sweeps import control_layout as co
from multiarm.sweeps.carrying import copy_vector, part
from multiarm.sweeps.jit import step, value
from multiarm.sweeps.paths import joints_at, multiply_quaternions, rotation_vector


@value
def quaternion_of(q, i):
    """Four entries from i."""
    return (q[i], q[i + 1], q[i + 2], q[i + 3])


@value
def conjugate(p):
    """The opposite rotation."""
    return (-p[0], -p[1], -p[2], p[3])


@step
def joint_errors(whole, reference, q, out):
    """By how much every actuated joint is off its reference, along its velocities; on the manifold for quaternions."""
    for n in range(whole[co.JOINTS]):
        place = whole[co.JOINTS + 1] + co.JOINT_RECORD * n
        shape, i, j = whole[place], whole[place + 1], whole[place + 2]
        if shape == co.PLAIN:
            for c in range(whole[place + 3]):
                out[j + c] = reference[i + c] - q[i + c]
            continue
        now, wanted = conjugate(quaternion_of(q, i)), quaternion_of(reference, i)
        if shape == co.BALL:
            turn = rotation_vector(multiply_quaternions(now, wanted))
        else:
            turn = rotation_vector(multiply_quaternions(wanted, now))
            for c in range(3):
                out[j + 3 + c] = reference[i + 4 + c] - q[i + 4 + c]
        for c in range(3):
            out[j + c] = turn[c]


@step
def prefer(numbers, whole, desk, t, q, v, out):
    """kp (q_ref - q) + kd (v_ref - v) at joints with actuator, zero elsewhere."""
    nv, nq = whole[co.VELOCITIES], whole[co.COORDINATES]
    reference, rates = part(desk, whole, co.Q_REFERENCE, nq), part(desk, whole, co.V_REFERENCE, nv)
    spare = part(desk, whole, co.SPARE, nv)
    copy_vector(numbers, whole[co.REFERENCE], reference)
    rates[:] = 0.0
    for n in range(whole[co.FOLLOWED]):
        place = whole[co.FOLLOWED + 1] + co.FOLLOWED_RECORD * n
        i, j, first, size = whole[place], whole[place + 1], whole[place + 2], whole[place + 3]
        joints_at(numbers[first : first + size], t, reference[i:], rates[j:], spare)
    spare[:] = 0.0
    joint_errors(whole, reference, q, spare)
    for j in range(nv):
        stiff, damped = numbers[whole[co.STIFFNESS] + j], numbers[whole[co.DAMPING] + j]
        out[j] = stiff * spare[j] + damped * (rates[j] - v[j])
